"""Selections whose statements share lines, stand at other depths, or touch their neighbours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sides import assert_mends, mended

_MAKE = """
def make():
    ones = torch.ones(3)
    return entry, [(ones,), (-ones,), (ones * 3,), (ones, False), (-ones, False), (ones * 3, False)]
"""

MENDED = {
    "what follows the last side of a branch around it": """
def entry(x: torch.Tensor, flag: bool = True):
    h = x + 1
    if flag:
        return h * 7
    elif x.sum() > 5:
        return h * 1
    elif x.sum() > 0:
        return h * 4
    # behind
    d = h + 2
    return d
""",
    "what follows an else": """
def entry(x: torch.Tensor, flag: bool = True):
    h = x + 1
    if flag:
        return h * 7
    else:
        if x.sum() > 0:
            return h * 1
        b = h * 2
    return b + 2
""",
    "a line of two statements behind numbers": """
def entry(x: torch.Tensor, flag: bool = True):
    z = x
    k = 1 if x.sum() > 0 else 2
    y = x * k; z = x + 1
    return y + z
""",
    "a line of two statements behind a branch": """
def entry(x: torch.Tensor, flag: bool = True):
    z = x
    if x.sum() > 0:
        k = 1
    else:
        k = 2
    y = x * k; z = x + 1
    return y + z
""",
    "keywords next to numbers": """
def entry(x: torch.Tensor, flag: bool = True):
    h = x + 1
    return (h * 2if(x.sum() > 0)else(h * 3))  # if and else
""",
    "continued lines": """
def entry(x: torch.Tensor, flag: bool = True):
    h = x + 1
    y = h * 2 \\
        if x.sum() > 0 \\
        else h * 3
    return y
""",
}


@pytest.mark.filterwarnings("ignore:invalid decimal literal")
@pytest.mark.parametrize("name", MENDED)
@pytest.mark.semantics("S1", "legal")
def test_behaves_alike(name: str, tmp_path: Path) -> None:
    source = assert_mends("import torch\n" + MENDED[name] + _MAKE, tmp_path)
    assert "select(" in source


def test_what_follows_the_other_side_stays(tmp_path: Path) -> None:
    text = """
import torch

def entry(x: torch.Tensor, flag: bool):
    h = x + 1
    if flag:
        if x.sum() > 0:
            return h
        b = h * 2
    else:
        return h * 7
    return b + 2
"""
    assert mended(text, tmp_path).source == text
