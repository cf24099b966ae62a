"""Counts of what torch.compile makes of a model: breaks, frames, graphs, recompiles."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch

from corpus.recipe import Case
from eval.sites import site_of
from graphmend.verification import counting


def count(case: Case) -> dict[str, Any]:
    """All counts of a case, as JSON-able data.

    Every measurement starts from a copy of the model as it was built.
    """

    def fresh() -> tuple[torch.nn.Module, list[counting.Arguments]]:
        return copy.deepcopy(case.model), [((), copy.deepcopy(call)) for call in case.calls]

    with torch.no_grad():
        found = counting.count(fresh)
    return {
        "breaks": found.breaks,
        "frames": found.frames,
        "frames_ok": found.frames_ok,
        "graphs": found.graphs,
        "recompiles": found.recompiles,
        "new_frames_later": found.new_frames,
        "sites": _sites(found.reasons),
        "fullgraph": found.fullgraph,
        "fullgraph_error": found.fullgraph_error,
    }


def _sites(reasons: Sequence[tuple[str, Any]]) -> list[dict[str, Any]]:
    """Each place that ended a graph, with how often it did, most often first."""
    sites = Counter(site_of(reason, stack) for reason, stack in reasons)
    return [{**site.to_json(), "count": n} for site, n in sites.most_common()]
