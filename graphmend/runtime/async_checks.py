"""Checks that the graph makes itself, by asserts: nothing waits for the device to see them pass.

Such a check is decided by the truth of its tensor arguments; what else it takes is known while
tracing. So running it once for each combination of truth values tells what is to be asserted.
"""

import dataclasses
import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx
from torch._dynamo import variables

from graphmend.runtime import fallback, graph_writes, places, python_writes, replay, truth
from graphmend.runtime.arguments import NotDeferrable
from graphmend.runtime.handlers import Around
from graphmend.runtime.region import SiteKey

_CHECKS = "graphmend_checks"
_MOST_TENSORS = 3

Row = tuple[bool, ...]
"""A truth value for each tensor argument."""


@dataclasses.dataclass(eq=False)
class Check:
    """One check of a region: its assert in the graph, and how its function is called."""

    site: SiteKey
    speculations: int
    call: Callable[..., None]
    arguments: tuple[Any, ...]
    """Nodes of the graph for tensors, and constants."""
    failing: tuple[Any, ...]
    """Arguments for which it fails."""
    name: str
    node: fx.Node


def checks_of(output: Any) -> list[Check]:
    """The checks asserted so far in the region that `output` stands for, in program order."""
    found: list[Check] = output.__dict__.setdefault(_CHECKS, [])
    return found


def assert_in_graph(
    tx: Any, callee: Any, bound: inspect.BoundArguments, site: SiteKey, around: Around
) -> None:
    """Put the check at `tx` into the graph. Raises NotDeferrable where it has to run in place."""
    _require_assertable(tx, around)
    arguments = _arguments(bound)
    rows = _rows(callee.value, arguments)
    if all(passes for _, passes in rows):
        return
    if not any(passes for _, passes in rows):
        raise NotDeferrable("the check fails whatever its tensors hold")
    truths = [truth.scalar_truth(tx, a) for a in arguments if _is_tensor(a)]
    checks, graph = checks_of(tx.output), tx.output.graph
    name = f"{callee.value.__module__}.{callee.value.__qualname__} (check {len(checks)}) failed"
    condition = _condition(tx, truths, rows)
    # Where the overload fails, it is not the graph's own frame that does: FX prints nothing.
    truth.emitted(tx, "call_function", torch.ops.aten._assert_async.msg, condition, name)
    checks.append(
        Check(
            site=site,
            speculations=tx.speculation_log.index,
            call=replay.entry(callee.value, places.place_of(tx), None, 0, ()),
            arguments=tuple(a.as_proxy().node if _is_tensor(a) else a for a in arguments),
            failing=_filled(arguments, next(row for row, passes in rows if not passes)),
            name=name,
            node=next(iter(reversed(graph.nodes))),
        )
    )


def _require_assertable(tx: Any, around: Around) -> None:
    output = tx.output
    if around is not Around.NOTHING:
        raise NotDeferrable("something around the check sees its exception pass")
    if python_writes.snapshot(output.side_effects):
        raise NotDeferrable("Python objects are written before the check")
    if output.package is not None:
        raise NotDeferrable("the compiled code is saved")
    # An exception that leaves the graph leaves the modes as the graph has set them.
    modes: dict[str, Any] = {}
    output.save_global_state(out=modes)
    before = output.tracing_context.global_context.global_state
    if any(modes[name][1] != before[name][1] for name in modes):
        raise NotDeferrable("the region has changed a mode of torch at the check")


def _arguments(bound: inspect.BoundArguments) -> list[Any]:
    """The arguments of a call: the variables of tensors, and constants."""
    if bound.kwargs:
        raise NotDeferrable("the check takes keyword arguments")
    arguments: list[Any] = []
    for variable in (given.realize() for given in bound.args):
        if _is_tensor(variable):
            truth.require_one_element(variable)
            arguments.append(variable)
        elif variable.is_python_constant():
            arguments.append(variable.as_python_constant())
        else:
            raise NotDeferrable("an argument of the check is not known while tracing")
    return arguments


def _is_tensor(argument: Any) -> bool:
    return type(argument) is variables.TensorVariable


def _filled(arguments: Sequence[Any], row: Row) -> tuple[Any, ...]:
    """The arguments with truth values in the place of the tensors."""
    values = iter(row)
    return tuple(next(values) if _is_tensor(a) else a for a in arguments)


def _rows(function: Callable[..., None], arguments: Sequence[Any]) -> list[tuple[Row, bool]]:
    """For each combination of truth values whether the check passes."""
    count = sum(map(_is_tensor, arguments))
    if count > _MOST_TENSORS:
        raise NotDeferrable("the check rests on too many tensors")
    every = itertools.product((False, True), repeat=count)
    return [(row, _passes(function, _filled(arguments, row))) for row in every]


def _passes(function: Callable[..., None], values: tuple[Any, ...]) -> bool:
    try:
        function(*values)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return False
    return True


def _condition(tx: Any, truths: list[Any], rows: list[tuple[Row, bool]]) -> Any:
    """A 0-d bool tensor that is true where the check passes."""
    passing = [row for row, passes in rows if passes]
    failing = [row for row, passes in rows if not passes]
    chosen = min(passing, failing, key=len)
    matches = [
        functools.reduce(_with(tx, torch.logical_and), _literals(tx, truths, r)) for r in chosen
    ]
    matched = functools.reduce(_with(tx, torch.logical_or), matches)
    return matched if chosen is passing else _negated(tx, matched)


def _literals(tx: Any, truths: list[Any], row: Row) -> list[Any]:
    pairs = zip(truths, row, strict=True)
    return [value if wanted else _negated(tx, value) for value, wanted in pairs]


def _with(tx: Any, operator: Any) -> Callable[[Any, Any], Any]:
    return lambda a, b: truth.emitted(tx, "call_function", operator, a, b)


def _negated(tx: Any, value: Any) -> Any:
    return truth.emitted(tx, "call_function", torch.logical_not, value)


def require_no_writes(output: Any) -> None:
    """Start over where the region writes a tensor of the program.

    Compilers make such writes when the graph has run, or when it suits them: one that precedes
    a failing check would be lost, one that follows it might be made.
    """
    checks, graph = checks_of(output), output.graph
    if not checks:
        return
    written = graph_writes.Versions(()).changed(graph_writes.input_tensors(graph))
    operators = list(graph_writes.operators(graph))
    if written or any(graph_writes.written_unseen(n) for n in operators):
        reason = "the region writes a tensor in place"
    elif any(map(graph_writes.writes_through_data, operators)):
        reason = "the region writes a tensor through its .data"
    else:
        return
    fallback.start_over(output, checks[0].site, checks[0].speculations, reason)
