"""Branches whose result is asked which object it is, or that bind names of the module."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sides import assert_mends, mended

IDENTITY = {
    "in the function": """
import torch

def entry(x: torch.Tensor):
    y = x
    if x.sum() > 0:
        y = x * 2
    return y + 1, y is x

def make():
    return entry, [(torch.ones(2),), (-torch.ones(2),)]
""",
    "by a caller that counts changes": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.changed = 0

    def clean(self, x):
        return torch.nan_to_num(x) if x.isnan().any() else x

    def forward(self, x):
        y = self.clean(x)
        if y is not x:
            self.changed += 1
        return y * 1

def make():
    return Net(), [(torch.ones(2),), (torch.tensor([1.0, float("nan")]),)]
""",
}


@pytest.mark.parametrize("text", IDENTITY.values(), ids=IDENTITY)
@pytest.mark.semantics("W9", "refused")
def test_identity_is_that_of_the_side_taken(text: str, tmp_path: Path) -> None:
    assert_mends(text, tmp_path, fullgraph=False)


@pytest.mark.semantics("W10", "refused")
def test_a_side_that_binds_a_global_is_refused(tmp_path: Path) -> None:
    text = """
import torch

SEEN = 0

def entry(x: torch.Tensor):
    global SEEN
    if x.sum() > 0:
        SEEN = x * 2
    return x * SEEN
"""
    (finding,) = mended(text, tmp_path).findings
    assert finding.status == "refused" and finding.reason == "`SEEN` belongs to another scope"
