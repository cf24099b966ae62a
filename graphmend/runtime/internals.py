"""Every private part of TorchDynamo that is patched, in one place, with its probe.

Names that are only used stand in `private_names`, what is read from objects in `probes`.

The patches go in when torch._dynamo is imported. The probes run once, inside the first real
compile that meets a deferred call or a selection; when one fails, they run in place from then on.
"""

import contextlib
import operator
import types
from collections.abc import Iterator
from typing import Any, NoReturn

from torch._C._dynamo.eval_frame import (
    _FrameAction as FrameAction,
)
from torch._C._dynamo.eval_frame import (
    _FrameExecStrategy as FrameExecStrategy,
)
from torch._C._dynamo.eval_frame import set_code_exec_strategy
from torch._dynamo import bytecode_transformation, output_graph, symbolic_convert
from torch._dynamo.exc import SpeculationRestartAnalysis, TorchDynamoException
from torch._dynamo.variables import BuiltinVariable, misc

from graphmend.runtime import (
    async_checks,
    branches,
    calls,
    emit,
    fallback,
    marks,
    plan,
    replay,
    result_aliases,
    same_code,
    selection,
    shape_failures,
    status,
    truth,
)
from graphmend.runtime.async_failures import with_exceptions
from graphmend.runtime.handlers import frames_of
from graphmend.runtime.private_names import first_missing
from graphmend.runtime.probes import READ, Internal, takes
from graphmend.runtime.recovery import with_recovery
from graphmend.runtime.region import in_place_sites, region_of

_is_reorderable = misc.DebuggingVariable.is_reorderable_logging_function
_call_function = misc.DebuggingVariable.call_function
_compile_subgraph = output_graph.OutputGraph.compile_subgraph
_codegen_suffix = output_graph.OutputGraph.codegen_suffix
_call_user_compiler = output_graph.OutputGraph.call_user_compiler
_step = symbolic_convert.InstructionTranslator.step
_compare = BuiltinVariable._comparison_with_tensor


PATCHED = (
    Internal(
        "DebuggingVariable.is_reorderable_logging_function",
        "a marked function becomes a DebuggingVariable",
        lambda tx: misc.DebuggingVariable.is_reorderable_logging_function is _is_deferred,
    ),
    Internal(
        "DebuggingVariable.call_function",
        "its calls are recorded",
        fits=lambda: takes(_call_function, "self", "tx", "args", "kwargs"),
    ),
    Internal(
        "OutputGraph.compile_subgraph",
        "the records of a region are planned when it is complete",
        fits=lambda: takes(_compile_subgraph, "self", "tx", "reason", "stack_pops"),
    ),
    Internal(
        "OutputGraph.codegen_suffix",
        "the recorded calls are emitted between the graph and the replay of Python writes",
        fits=lambda: takes(
            _codegen_suffix,
            *("self", "tx", "stack_values", "cg", "log_side_effects"),
        ),
    ),
    Internal(
        "OutputGraph.call_user_compiler",
        "reports are recovered and exceptions of checks restored when the graph fails",
        fits=lambda: takes(_call_user_compiler, "self", "gm", "example_inputs"),
    ),
    Internal(
        "InstructionTranslator.step",
        "calls in front of an operator that fails while tracing run before its error",
        fits=lambda: takes(_step, "self"),
    ),
    Internal(
        "BuiltinVariable._comparison_with_tensor",
        "a selection whose result is compared by identity is taken back",
        lambda tx: _compares_here(),
        lambda: takes(_compare, "self", "tx", "left", "right"),
    ),
    Internal(
        "bytecode_transformation._cached_cleaned_instructions",
        "functions inside equal code of two files stay those of their own file",
        lambda tx: bytecode_transformation._cached_cleaned_instructions is same_code.cleaned,
        lambda: takes(same_code.cleaned_by_equality, "code", "safe"),
    ),
)


def patch() -> None:
    """Put the patches in. Raises when this torch does not have what they replace and use."""
    if missing := first_missing():
        raise RuntimeError(f"there is no {missing}")
    for internal in PATCHED:
        if not internal.fits():
            raise RuntimeError(f"{internal.name} is not what it was")
    for owner, name, replacement in (
        (misc.DebuggingVariable, "is_reorderable_logging_function", staticmethod(_is_deferred)),
        (misc.DebuggingVariable, "call_function", _deferring_call_function),
        (output_graph.OutputGraph, "compile_subgraph", _planning_compile_subgraph),
        (output_graph.OutputGraph, "codegen_suffix", _emitting_codegen_suffix),
        (output_graph.OutputGraph, "call_user_compiler", _recovering_call_user_compiler),
        (symbolic_convert.InstructionTranslator, "step", _surviving_step),
        (BuiltinVariable, "_comparison_with_tensor", _identifying_comparison),
        (bytecode_transformation, "_cached_cleaned_instructions", same_code.cleaned),
    ):
        setattr(owner, name, replacement)
    # What compiled before in this process has left handlers that know the methods as they were.
    BuiltinVariable._binop_handlers.cache_clear()
    BuiltinVariable.call_function_handler_cache.clear()
    for left_alone in (marks.on_marked, replay.on_made):
        left_alone(_leave_alone)
    for function in branches.FUNCTIONS:
        # After a break they run as they are; what they call is compiled as ever.
        once = FrameExecStrategy(FrameAction.SKIP, FrameAction.DEFAULT)
        set_code_exec_strategy(function.__code__, once)


def _compares_here() -> bool:
    handlers = [handler for _, handler in BuiltinVariable._binop_handlers()[operator.is_]]
    return any(getattr(h, "__func__", None) is _identifying_comparison for h in handlers)


def _leave_alone(code: types.CodeType) -> None:
    """Keep TorchDynamo out of the frames of `code` and of what they call."""
    set_code_exec_strategy(code, FrameExecStrategy(FrameAction.SKIP, FrameAction.SKIP))


def verify(tx: Any) -> None:
    """Run the probes, once in a process."""
    if status.state() != status.INSTALLED:
        return
    for internal in (*PATCHED, *READ):
        try:
            works = internal.probe(tx)
        except Exception as error:
            status.fail(f"{internal.name}: {type(error).__name__}: {error}")
            return
        if not works:
            status.fail(f"{internal.name} is not what it was")
            return
    status.set_state(status.VERIFIED)


def _is_deferred(value: Any) -> Any:
    is_own = marks.mark_of(value) is not None or branches.is_selection(value)
    return is_own or _is_reorderable(value)


def _deferring_call_function(self: Any, tx: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    mark = marks.mark_of(self.value)
    if mark is None and not branches.is_selection(self.value):
        return _call_function(self, tx, args, kwargs)
    verify(tx)
    if status.state() == status.FAILED:
        return fallback.inline(tx, self, args, kwargs)
    with _failing_open(tx):
        if mark is not None:
            return calls.call(tx, self, mark, args, kwargs)
        decide = selection.call if self.value is branches.select else truth.call
        return decide(tx, self, args, kwargs)


def _planning_compile_subgraph(
    self: Any, tx: Any, reason: Any, stack_pops: int = 0, **more: Any
) -> Any:
    region = region_of(self)
    if region.selections:
        region.held, region.goes_on = result_aliases.held_by_frame(tx), reason.graph_break
    if not region.records:
        return _compile_subgraph(self, tx, reason, stack_pops, **more)
    with _failing_open(tx):
        plan.plan(region, self, frames_of(tx) if reason.graph_break else [])
        emit.emit_before_graph(region, self)
    tx.debug_locals = [*tx.debug_locals, _SENTINEL]
    result = _compile_subgraph(self, tx, reason, stack_pops, **more)
    if not region.emitted:
        lost = "OutputGraph.compile_subgraph did not emit the deferred calls"
        status.fail(lost)
        _give_up(tx, lost)
    region.records.clear()
    return result


_SENTINEL: Any = (BuiltinVariable(locals), [])
"""Keeps compile_subgraph from a short cut that does not come by codegen_suffix.

It has the form of a call that TorchDynamo would emit there, and does nothing if it is.
"""


@contextlib.contextmanager
def _failing_open(tx: Any) -> Iterator[None]:
    """Turn an unexpected error of this package into calls that run in place in this compile."""
    try:
        yield
    except TorchDynamoException:
        raise
    except Exception as error:
        if fallback.is_as_traced(error) or None in in_place_sites(tx):
            raise
        reason = f"{type(error).__name__}: {error}"
        status.note_error(reason)
        _give_up(tx, reason, error)


def _give_up(tx: Any, reason: str, error: Exception | None = None) -> NoReturn:
    in_place_sites(tx)[None] = reason
    tx.speculation_log.clear()
    raise SpeculationRestartAnalysis(restart_reason=f"graphmend: {reason}") from error


def _emitting_codegen_suffix(
    self: Any, tx: Any, stack_values: Any, cg: Any, log_side_effects: bool
) -> None:
    region = region_of(self)
    tx.debug_locals = [entry for entry in tx.debug_locals if entry is not _SENTINEL]
    pending = emit.emit_before_writes(region, cg)
    _codegen_suffix(self, tx, stack_values, cg, log_side_effects)
    emit.emit_after_writes(pending, cg)
    region.emitted = True


def _recovering_call_user_compiler(self: Any, gm: Any, example_inputs: Any, *more: Any) -> Any:
    with _failing_open(self.root_tx):
        async_checks.require_no_writes(self)
        result_aliases.require_indistinguishable(self)
    compiled = _call_user_compiler(self, gm, example_inputs, *more)
    if checks := async_checks.checks_of(self):
        with _failing_open(self.root_tx):
            compiled = with_exceptions(compiled, gm, checks)
    records = [record for record in region_of(self).records if record.recovered]
    if not records:
        return compiled
    with _failing_open(self.root_tx):
        return with_recovery(compiled, gm, records)


def _surviving_step(self: Any) -> Any:
    try:
        return _step(self)
    except Exception as error:
        if not region_of(self.output).records:
            raise
        if not shape_failures.is_of_the_program(error) or not shape_failures.end_region(
            self, error
        ):
            raise
        return False


def _identifying_comparison(self: Any, tx: Any, left: Any, right: Any) -> Any:
    if self.fn in (operator.is_, operator.is_not) and left.is_tensor() and right.is_tensor():
        with _failing_open(tx):
            result_aliases.require_other_objects(tx.output, left, right)
    return _compare(self, tx, left, right)
