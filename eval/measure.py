"""Counts of what torch.compile makes of a model: breaks, frames, graphs, recompiles."""

from __future__ import annotations

import copy
from typing import Any

import torch

from corpus.recipe import Case
from eval.sites import counted_sites
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
        "sites": counted_sites(found.reasons),
        "fullgraph": found.fullgraph,
        "fullgraph_error": found.fullgraph_error,
    }
