"""Every private name of torch that this package uses, in one place.

They are looked for before anything is patched. What is read from objects is probed in a compile;
`internals` and `probes` list that.
"""

import operator

import torch

PRIVATE = tuple(
    """
torch._C._dynamo.eval_frame._FrameAction
torch._C._dynamo.eval_frame._FrameAction.DEFAULT
torch._C._dynamo.eval_frame._FrameAction.SKIP
torch._C._dynamo.eval_frame._FrameExecStrategy
torch._C._dynamo.eval_frame.set_code_exec_strategy
torch._C._functorch.peek_interpreter_stack
torch._dispatch.python.enable_python_dispatcher
torch._dynamo.bytecode_analysis.livevars_analysis
torch._dynamo.bytecode_transformation
torch._dynamo.bytecode_transformation._cached_cleaned_instructions
torch._dynamo.bytecode_transformation.create_call_function
torch._dynamo.bytecode_transformation.create_instruction
torch._dynamo.codegen.PyCodegen
torch._dynamo.config
torch._dynamo.config.enable_aot_compile
torch._dynamo.config.patch
torch._dynamo.current_scope_id.enter_new_scope
torch._dynamo.exc
torch._dynamo.exc.RestartAnalysis
torch._dynamo.exc.SpeculationRestartAnalysis
torch._dynamo.exc.TorchDynamoException
torch._dynamo.exc.TorchRuntimeError
torch._dynamo.exc.Unsupported
torch._dynamo.exc.UserError
torch._dynamo.exc.augment_exc_message
torch._dynamo.exc.unimplemented
torch._dynamo.output_graph
torch._dynamo.output_graph.GraphCompileReason
torch._dynamo.output_graph.OutputGraph
torch._dynamo.output_graph.OutputGraph.call_user_compiler
torch._dynamo.output_graph.OutputGraph.codegen_suffix
torch._dynamo.output_graph.OutputGraph.compile_subgraph
torch._dynamo.resume_execution.ContinueExecutionCache
torch._dynamo.resume_execution.ContinueExecutionCache.generated_code_metadata
torch._dynamo.resume_execution.ContinueExecutionCache.generated_code_metadata.get
torch._dynamo.source.UnspecializedParamBufferSource
torch._dynamo.symbolic_convert
torch._dynamo.symbolic_convert.InstructionTranslator
torch._dynamo.symbolic_convert.InstructionTranslator.step
torch._dynamo.utils.is_safe_constant
torch._dynamo.variables
torch._dynamo.variables.BuiltinVariable
torch._dynamo.variables.BuiltinVariable._binop_handlers
torch._dynamo.variables.BuiltinVariable._binop_handlers.cache_clear
torch._dynamo.variables.BuiltinVariable._comparison_with_tensor
torch._dynamo.variables.BuiltinVariable.call_function_handler_cache.clear
torch._dynamo.variables.ConstDictVariable
torch._dynamo.variables.ConstantVariable
torch._dynamo.variables.ConstantVariable.create
torch._dynamo.variables.ConstantVariable.is_base_literal
torch._dynamo.variables.DeletedVariable
torch._dynamo.variables.ListVariable
torch._dynamo.variables.SetVariable
torch._dynamo.variables.TensorVariable
torch._dynamo.variables.TupleVariable
torch._dynamo.variables.UnspecializedPythonVariable
torch._dynamo.variables.UserDefinedClassVariable
torch._dynamo.variables.UserDefinedObjectVariable
torch._dynamo.variables.UserFunctionVariable
torch._dynamo.variables.base
torch._dynamo.variables.base.AttributeMutationExisting
torch._dynamo.variables.base.AttributeMutationNew
torch._dynamo.variables.base.ValueMutationExisting
torch._dynamo.variables.base.ValueMutationNew
torch._dynamo.variables.base.VariableTracker
torch._dynamo.variables.base.VariableTracker.visit
torch._dynamo.variables.base.is_side_effect_safe
torch._dynamo.variables.builder.GraphArg
torch._dynamo.variables.builder.wrap_fx_proxy
torch._dynamo.variables.ctx_manager
torch._dynamo.variables.ctx_manager.WithExitFunctionVariable
torch._dynamo.variables.ctx_manager.WithExitFunctionVariable.__init__
torch._dynamo.variables.functions.LocalGeneratorObjectVariable
torch._dynamo.variables.iter.IteratorVariable
torch._dynamo.variables.lists.SizeVariable
torch._dynamo.variables.misc
torch._dynamo.variables.misc.DebuggingVariable
torch._dynamo.variables.misc.DebuggingVariable.call_function
torch._dynamo.variables.misc.DebuggingVariable.is_reorderable_logging_function
torch._dynamo.variables.misc.LoggingLoggerVariable
torch._dynamo.variables.misc.PythonModuleVariable
torch._dynamo.variables.misc.StringFormatVariable
torch._dynamo.variables.tensor.SymNodeVariable
torch._ops.HigherOrderOperator
torch._ops.OpOverload
torch._ops.OpOverloadPacket
torch._subclasses.fake_tensor.FakeTensor
torch.ops.aten._assert_async.msg
torch.ops.aten._to_copy.default
torch.utils._python_dispatch.TorchDispatchMode
torch.utils._python_dispatch.is_traceable_wrapper_subclass
""".split()
)


def first_missing() -> str | None:
    """The first of the names that this torch does not have."""
    for name in PRIVATE:
        try:
            operator.attrgetter(name.removeprefix("torch."))(torch)
        except AttributeError:
            return name
    return None
