"""What the unmended program does at a call: its own statement is traced, or the graph breaks.

A decision against a call that comes after its operators are in the graph starts the analysis over,
with the call refused from the beginning.
"""

from typing import Any, NoReturn

import torch
from torch._dynamo import exc, variables
from torch._dynamo.exc import unimplemented

from graphmend.runtime import places, status
from graphmend.runtime.arguments import NotDeferrable
from graphmend.runtime.handlers import frames_of
from graphmend.runtime.region import FrameReason, SiteKey, in_place_sites
from graphmend.runtime.switch import is_switched_off

_AS_TRACED = "graphmend_as_traced"


def site_of(tx: Any) -> SiteKey:
    """An identity of the call that `tx` is at, the same when the analysis starts over."""
    return tuple((frame.f_code, frame.instruction_pointer) for frame in frames_of(tx))


def require_allowed(tx: Any, site: SiteKey) -> None:
    """Raise NotDeferrable where the call at `site`, or every call, has to run in place."""
    refused = in_place_sites(tx)
    for key in (None, site):
        if key in refused:
            reason = refused[key]
            raise NotDeferrable(reason, skips_frame=isinstance(reason, FrameReason))
    if is_exporting(tx):
        raise NotDeferrable("the program is being exported")
    if status.state() == status.FAILED or is_switched_off():
        raise NotDeferrable("deferral is off")
    if is_inside_operator(tx):
        raise NotDeferrable("the call stands inside a higher-order operator")


def is_exporting(tx: Any) -> bool:
    """Whether the trace is part of an export."""
    return bool(tx.export or torch.compiler.is_exporting())


def is_inside_operator(tx: Any) -> bool:
    """Whether the trace is inside a higher-order operator or a functorch transform."""
    return (
        tx.output.current_tracer.parent is not None
        or torch._C._functorch.peek_interpreter_stack() is not None
    )


def inline(tx: Any, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Trace the function as it is written."""
    function = variables.UserFunctionVariable(callee.value, source=callee.source)
    try:
        return function.call_function(tx, args, kwargs)
    except Exception as error:
        raise_as_traced(error)


def raise_as_traced(error: Exception) -> NoReturn:
    """Raise what tracing the program's own statement raised; see `is_as_traced`."""
    error.__dict__[_AS_TRACED] = True
    raise error


def is_as_traced(error: Exception) -> bool:
    """Whether `error` comes from tracing the program, and not from this package."""
    return _AS_TRACED in error.__dict__


def in_place(
    tx: Any, callee: Any, args: list[Any], kwargs: dict[str, Any], reason: NotDeferrable
) -> Any:
    """Do what the unmended program does: trace the statement, or break the graph at it.

    Where a break is not possible, tracing the statement gives what the statement gave there.
    """
    status.note_refusal((tx.f_code.co_filename, places.line_of(tx)), str(reason))
    if is_exporting(tx) or is_inside_operator(tx) or tx.one_graph or tx.error_on_graph_break:
        return inline(tx, callee, args, kwargs)
    unimplemented(
        gb_type="deferred call runs in place",
        context=f"function: {callee.value.__name__}",
        explanation=f"graphmend does not keep this call in the graph: {reason}.",
        hints=[],
        **({"skip_frame": True} if reason.skips_frame else {}),
    )


def start_over(output: Any, site: SiteKey, speculations: int, reason: str) -> NoReturn:
    """Trace the frame again, with the call at `site` in place.

    `speculations` is how many points the trace had passed before the call at which TorchDynamo may
    break the graph; from there on the new trace is another one.
    """
    in_place_sites(output.root_tx)[site] = reason
    del output.root_tx.speculation_log.entries[speculations:]
    raise exc.SpeculationRestartAnalysis(restart_reason=f"graphmend: {reason}")
