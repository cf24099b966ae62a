"""An operator that fails while it is traced, with deferred calls still to run.

In the program those calls come first: a check raises its own exception, a report appears. So the
region ends in front of the operator. In default mode that is a graph break at the first call. In
fullgraph mode the region runs its calls and then raises what the trace raised.
"""

import copy
from typing import Any

from torch._dynamo import variables
from torch._dynamo.bytecode_transformation import create_call_function, create_instruction
from torch._dynamo.codegen import PyCodegen
from torch._dynamo.exc import TorchDynamoException, TorchRuntimeError, augment_exc_message
from torch._dynamo.output_graph import GraphCompileReason

from graphmend.runtime import graph_writes, replay
from graphmend.runtime.fallback import start_over
from graphmend.runtime.region import region_of


def is_of_the_program(error: Exception) -> bool:
    """Whether `error` is what an operator of the program raised, and not TorchDynamo's own."""
    return isinstance(error, TorchRuntimeError) or not isinstance(error, TorchDynamoException)


def end_region(tx: Any, error: Exception) -> bool:
    """End the region of the outermost translator `tx` in front of the operator that raised `error`.

    True when the trace is complete; False when the error has to be raised at once.
    """
    region = region_of(tx.output)
    if not region.records or tx.output.should_exit or tx.export:
        return False
    if not (tx.one_graph or tx.error_on_graph_break):
        first = region.records[0]
        reason = "an operator after the call fails in tracing"
        start_over(tx.output, first.site, first.speculations, reason)
    if not _can_end_here(tx):
        return False
    _finish(tx, error)
    return True


def _can_end_here(tx: Any) -> bool:
    """Whether nothing is open: no higher-order operator, block, or mode set inside the region."""
    output = tx.output
    modes: dict[str, Any] = {}
    output.save_global_state(out=modes)
    before = output.tracing_context.global_context.global_state
    return (
        output.current_tracer.parent is None
        and not tx.block_stack
        and all(modes[name][1] == before[name][1] for name in modes)
    )


def _finish(tx: Any, error: Exception) -> None:
    output = tx.output
    failed = graph_writes.last_operator(output.graph)
    if failed is not None and "example_value" not in failed.meta and not failed.users:
        output.graph.erase_node(failed)
    tx.stack.clear()
    tx.symbolic_locals = {}
    tx.push(variables.ConstantVariable.create(None))
    reason = GraphCompileReason("return_value", [tx.frame_summary()], graph_break=False)
    frames = output.compile_subgraph(tx, reason=reason, stack_pops=1)
    codegen = PyCodegen(tx)
    codegen.add_push_null(lambda: codegen.load_import_from(replay.__name__, "raise_traced"))
    name = output.install_global_by_id("graphmend_error", _without_frames(error))
    codegen.append_output(codegen.create_load_global(name, add=True))
    codegen.extend_output(create_call_function(1, False))
    codegen.append_output(create_instruction("POP_TOP"))
    last = create_instruction("RETURN_VALUE")
    output.add_output_instructions(
        codegen.get_instructions() + tx.codegen_return_with_pops(last, frames[0].num_stack)
    )


def _without_frames(error: Exception) -> Exception:
    """A copy of `error` with the text that TorchDynamo gives it, which keeps no frame alive."""
    kept = copy.copy(error)
    kept.__dict__.update(error.__dict__)
    augment_exc_message(kept)
    return kept.with_traceback(None)
