"""Warnings on a side of a branch show the place that they show in the original."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import torch

from tests.sides import load, mended

_TEXT = """import warnings
import torch

def entry(x: torch.Tensor):
    h = x + 1
    if x.sum() > 0:
        warnings.warn("positive"LEVEL)
        h = h * 2
    return h
"""


def _place(text: str, path: Path) -> str:
    entry = load(text, path).entry
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        entry(torch.ones(2))
    lines = Path(caught[0].filename).read_text().splitlines()
    return lines[caught[0].lineno - 1].strip()


@pytest.mark.parametrize("level", [", stacklevel=2", ", UserWarning, 2"])
@pytest.mark.semantics("D10", "legal")
def test_the_place_of_a_caller(level: str, tmp_path: Path) -> None:
    text = _TEXT.replace("LEVEL", level)
    result = mended(text, tmp_path)
    assert _place(result.source, tmp_path / "mended.py") == "entry(torch.ones(2))"
    assert {f.code: f.status for f in result.findings}["GM101"] == "refused"


def test_a_warning_at_its_own_line_is_no_obstacle(tmp_path: Path) -> None:
    result = mended(_TEXT.replace("LEVEL", ""), tmp_path)
    assert {f.code: f.status for f in result.findings} == {"GM101": "fixed", "GM203": "fixed"}
