"""Breaks, frames and graphs of a model at the price of one or two traces, its calls observed.

Where the first trace, under fullgraph=True, passes, it tells all: there is one graph and no break.
Only where it fails is there a second one in default mode.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.backends.debugging import aot_eager
from torch._dynamo.utils import counters

from eval.sites import counted_sites
from graphmend.verification.counting import breaks, compiles, recompiles
from graphmend.verification.observe import Observation, observe

Call = dict[str, Any]
Backend = Callable[[torch.fx.GraphModule, list[Any]], Any]


def eager_calls(model: torch.nn.Module, calls: list[Call]) -> list[Observation]:
    """What each call does, on a copy of the model."""
    fresh = copy.deepcopy(model)
    return [_observed(fresh, call, fresh) for call in calls]


def counted(
    model: torch.nn.Module, calls: list[Call], through_aot: bool
) -> tuple[dict[str, Any], list[Observation]]:
    """The counts as JSON-able data, and what each compiled call did.

    With `through_aot` the graphs run as aot_eager makes them, otherwise as they were traced.
    Where aot_eager itself cannot take a graph, they run as traced; `backend` says which it was.
    """
    name = "aot_eager" if through_aot else "eager"
    counts, seen = _traced(model, calls, name, fullgraph=True)
    error = _gave_up(seen)
    if error is None:
        return {**counts, "fullgraph": True, "fullgraph_error": None}, seen
    counts, seen = _traced(model, calls, "aot_eager", fullgraph=False)
    if _gave_up(seen) is not None:
        counts, seen = _traced(model, calls, "eager", fullgraph=False)
    return {**counts, "fullgraph": False, "fullgraph_error": error}, seen


def _traced(
    model: torch.nn.Module, calls: list[Call], name: str, fullgraph: bool
) -> tuple[dict[str, Any], list[Observation]]:
    """One compiled object, all calls in order."""
    reasons: list[Any] = []
    torch._dynamo.reset()
    counters.clear()
    fresh = copy.deepcopy(model)
    compiled = torch.compile(fresh, backend=_noting(reasons, name), fullgraph=fullgraph)
    seen = [_observed(compiled, calls[0], fresh)]
    graphs = len(reasons)
    # Under fullgraph=True Dynamo does not count frames: each graph is one that it captured.
    total, ok = (graphs, graphs) if fullgraph else (counters["frames"][k] for k in ("total", "ok"))
    with compiles() as later:
        seen += [_observed(compiled, call, fresh) for call in calls[1:]]
    again = recompiles(later)
    return {
        "breaks": graphs - 1,
        "frames": total,
        "frames_ok": ok,
        "graphs": graphs,
        "recompiles": len(again),
        "new_frames_later": len(later) - len(again),
        "sites": counted_sites(breaks(reasons)),
        "backend": name,
    }, seen


def _noting(reasons: list[Any], name: str) -> Backend:
    """A backend that notes why each graph ended."""

    def backend(module: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        reasons.append(module.compile_subgraph_reason)
        return aot_eager(module, inputs) if name == "aot_eager" else module.forward

    return backend


def _observed(call: Any, arguments: Call, owner: torch.nn.Module) -> Observation:
    with torch.no_grad():
        return observe(call, (), copy.deepcopy(arguments), owner)[0]


def _gave_up(seen: list[Observation]) -> str | None:
    """What the compiler said where it gave up on a call, in one line."""
    for index, observation in enumerate(seen):
        if not observation.captured:
            lines = (observation.exception or "").strip().splitlines()
            return f"call {index}: {lines[0] if lines else ''}"
    return None
