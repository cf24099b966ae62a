"""Counts of what torch.compile makes of a model: breaks, frames, graphs, recompiles."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.utils import counters

from corpus.recipe import Case
from eval.sites import site_of


def count(case: Case) -> dict[str, Any]:
    """All counts of a case, as JSON-able data.

    One eager call comes first. Every measurement starts from a copy of the model as it was built
    and from a reset Dynamo, so that none sees what another left behind.
    """
    with torch.no_grad():
        _fresh(case)(**copy.deepcopy(case.calls[0]))
        return {"breaks": _published_count(case), **_default_mode(case), **_fullgraph(case)}


def _fresh(case: Case) -> torch.nn.Module:
    torch._dynamo.reset()
    counters.clear()
    return copy.deepcopy(case.model)


def _published_count(case: Case) -> int:
    """Breaks in the first call, as published: graphs minus one, so -1 where no graph was made."""
    explained = torch._dynamo.explain(_fresh(case))(**copy.deepcopy(case.calls[0]))
    breaks: int = explained.graph_break_count
    return breaks


def _default_mode(case: Case) -> dict[str, Any]:
    """One compiled object in default mode, all calls in order."""
    compiles: list[tuple[int, str]] = []
    reasons: list[Any] = []
    call = 0

    def backend(module: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        reasons.append(module.compile_subgraph_reason)
        return module.forward

    def started(arguments: Any) -> None:
        compiles.append((call, str(arguments.compile_id)))

    compiled = torch.compile(_fresh(case), backend=backend)
    first: dict[str, int] = {}
    handler = torch._dynamo.callback.callback_handler
    handler.register_start_callback(started)
    try:
        for call, arguments in enumerate(case.calls):
            compiled(**copy.deepcopy(arguments))
            if call == 0:
                frames = counters["frames"]
                first = {
                    "frames": frames["total"],
                    "frames_ok": frames["ok"],
                    "graphs": len(reasons),
                }
    finally:
        handler.remove_start_callback(started)
    # A compile id reads frame/attempt: a second attempt at a frame is a recompile, a frame that
    # is first met in a later call is not.
    later = [identity for call, identity in compiles if call > 0]
    again = [identity for identity in later if not identity.endswith("/0")]
    return {
        **first,
        "recompiles": len(again),
        "new_frames_later": len(later) - len(again),
        "sites": _sites(reasons),
    }


def _sites(reasons: list[Any]) -> list[dict[str, Any]]:
    """Each place that ended a graph, with how often it did, most often first."""
    breaks = [r for r in reasons if r is not None and r.graph_break]
    sites = Counter(site_of(r.reason, r.user_stack) for r in breaks)
    return [{**site.to_json(), "count": n} for site, n in sites.most_common()]


def _fullgraph(case: Case) -> dict[str, Any]:
    """Whether every call passes fullgraph=True, else the first line of what was said."""
    compiled = torch.compile(_fresh(case), backend="eager", fullgraph=True)
    for call, arguments in enumerate(case.calls):
        try:
            compiled(**copy.deepcopy(arguments))
        except Exception as error:  # any failure means that it does not pass
            first_line = (str(error).strip().splitlines() or [""])[0]
            message = f"call {call}: {type(error).__name__}: {first_line}"
            return {"fullgraph": False, "fullgraph_error": message}
    return {"fullgraph": True, "fullgraph_error": None}
