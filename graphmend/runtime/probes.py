"""Every private part of TorchDynamo that is read here, in one place, with its probe.

Those that are patched stand in `internals`.
"""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch._C._dynamo.eval_frame import set_code_exec_strategy
from torch._dynamo.codegen import PyCodegen
from torch._dynamo.current_scope_id import enter_new_scope
from torch._dynamo.resume_execution import ContinueExecutionCache
from torch._dynamo.variables import base, ctx_manager
from torch._dynamo.variables.builder import GraphArg

from graphmend.runtime import versions


@dataclasses.dataclass(frozen=True)
class Internal:
    """One private part: what it is used for, and whether it is as expected.

    `probe` looks with a translator at hand, in a compile; `fits` before anything is patched.
    """

    name: str
    use: str
    probe: Callable[[Any], bool] = lambda tx: True
    fits: Callable[[], bool] = lambda: True


def takes(function: Any, *names: str) -> bool:
    """Whether the first parameters of a function have these names."""
    return list(inspect.signature(inspect.unwrap(function)).parameters)[: len(names)] == list(names)


READ = (
    Internal(
        "SpeculationLog",
        "what must run in place lasts when the analysis starts over",
        lambda tx: isinstance(tx.speculation_log.entries, list) and tx.speculation_log.index >= 0,
    ),
    Internal(
        "set_code_exec_strategy",
        "deferred functions, and what they call, are never compiled",
        lambda tx: callable(set_code_exec_strategy),
    ),
    Internal(
        "InstructionTranslatorBase",
        "frames, lines, handlers and the stack of a trace",
        lambda tx: all(
            hasattr(tx, name)
            for name in (
                *("parent", "f_code", "f_globals", "instructions", "indexof", "stack", "export"),
                *("current_instruction", "instruction_pointer", "one_graph", "debug_locals"),
                *("error_on_graph_break", "speculation_log", "output", "exn_vt_stack"),
            )
        ),
    ),
    Internal(
        "Instruction.exn_tab_entry",
        "try and with statements around a call",
        lambda tx: hasattr(tx.current_instruction, "exn_tab_entry"),
    ),
    Internal(
        "OutputGraph",
        "the graph, the root translator, bytecode before the graph",
        lambda tx: (
            isinstance(tx.output.pregraph_bytecode, list)
            and all(
                hasattr(tx.output, n) for n in ("graph", "root_tx", "current_tracer", "package")
            )
        ),
    ),
    Internal(
        "SideEffects",
        "pending writes to Python objects",
        lambda tx: (
            isinstance(tx.output.side_effects.id_to_variable, dict)
            and isinstance(tx.output.side_effects.store_attr_mutations, dict)
            and isinstance(tx.output.side_effects.tensor_hooks, dict)
            and callable(tx.output.side_effects.is_modified)
        ),
    ),
    Internal(
        "PyCodegen",
        "bytecode of the recorded calls",
        lambda tx: all(
            hasattr(PyCodegen(tx.output.root_tx), name)
            for name in (
                *("add_push_null", "append_output", "extend_output", "new_var", "create_store"),
                *("create_load", "create_load_global", "create_load_const", "create_load_attr"),
                *("load_import_from", "create_call_function_kw", "get_instructions"),
            )
        ),
    ),
    Internal(
        "OutputGraph.install_global_by_id",
        "what generated code calls for inlined sites",
        lambda tx: takes(tx.output.install_global_by_id, "prefix", "value"),
    ),
    Internal(
        "OutputGraph.save_global_state",
        "modes that are open where an operator fails while tracing",
        lambda tx: "grad_enabled" in tx.output.tracing_context.global_context.global_state,
    ),
    Internal(
        "WithExitFunctionVariable",
        "the context manager of an open with statement",
        lambda tx: takes(ctx_manager.WithExitFunctionVariable.__init__, "self", "ctx", "target"),
    ),
    Internal(
        "ContinueExecutionCache",
        "the function that a resumed frame is the rest of",
        lambda tx: hasattr(ContinueExecutionCache, "generated_code_metadata"),
    ),
    Internal(
        "GraphArg",
        "where an input of the graph comes from",
        lambda tx: {"source", "_example"} <= {f.name for f in dataclasses.fields(GraphArg)},
    ),
    Internal(
        "SideEffects.check_allowed_side_effect",
        "writes of a side of a selection to Python objects are noted before they happen",
        lambda tx: (
            takes(tx.output.side_effects.check_allowed_side_effect, "item")
            and takes(tx.output.side_effects.mutation, "var")
            and versions.stores_are_known(tx.output.side_effects)
        ),
    ),
    Internal(
        "enter_new_scope",
        "what a side made itself is told from what was there before",
        lambda tx: _scopes_differ(),
    ),
    Internal(
        "OutputGraph.random_calls",
        "random numbers of Python, and checks of sizes, that a side adds",
        lambda tx: (
            isinstance(tx.output.random_calls, list)
            and isinstance(tx.output.shape_env.deferred_runtime_asserts, dict)
            and hasattr(tx, "fake_mode")
        ),
    ),
    Internal(
        "FakeTensor._version",
        "in-place writes in the graph",
        lambda tx: _fake_writes_count(tx),
    ),
)


def _scopes_differ() -> bool:
    with enter_new_scope():
        outside = base.ValueMutationNew()
        with enter_new_scope():
            inside = base.ValueMutationNew()
            return base.is_side_effect_safe(inside) and not base.is_side_effect_safe(outside)


def _fake_writes_count(tx: Any) -> bool:
    with tx.output.fake_mode, torch.inference_mode(False):
        tensor = torch.zeros(2)
        view = tensor.view(1, 2)
        view.add_(1)
        return tensor._version == 1 and (
            tensor.untyped_storage()._cdata == view.untyped_storage()._cdata
        )
