"""Branches that become `torch.where` in plain PyTorch, and those that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmend.api import check_source
from tests.semantics.lines import named
from tests.sides import assert_mends, mended

PLAIN = {
    "overflow guard behind a layer": """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(2)

    def forward(self, x):
        h = self.norm(x)
        if h.dtype == torch.float16 and (torch.isinf(h).any() or torch.isnan(h).any()):
            # keep it finite
            limit = torch.finfo(h.dtype).max - 1000
            h = torch.clamp(h, min=-limit, max=limit)
        return h * 2

def make():
    torch.manual_seed(0)
    big = torch.tensor([[1.0, float("inf")]])
    return Block().half(), [(torch.ones(1, 2).half(),), (big.half(),)]
""",
    "a single statement": """
import torch

def entry(x: torch.Tensor):
    y = x * 2
    if not torch.isfinite(y).all():
        y = torch.nan_to_num(y, nan=1.0)
    return y + 1

def make():
    strided = torch.arange(8.0).reshape(2, 4).t()[::2]
    return entry, [(torch.ones(2),), (torch.tensor([1.0, float("nan")]),), (strided,)]
""",
    "gradients": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        h = self.linear(x)
        if torch.isnan(h).any() or (h > 3).any():
            h = torch.relu(h)
        return h.exp().sum()

def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(1, 2),), (torch.full((1, 2), 9.0),), (-torch.ones(1, 2),)]
""",
}


@pytest.mark.parametrize("name", named(PLAIN, "legal"))
@pytest.mark.semantics("X3", "legal")
@pytest.mark.semantics("W1", "legal")
def test_needs_no_graphmend_and_behaves_alike(name: str, tmp_path: Path) -> None:
    source = assert_mends(PLAIN[name], tmp_path, gradients=name == "gradients")
    assert "graphmend" not in source
    assert "torch.where(" in source


NOT_PROVEN = {
    "may be a view (W1, W9)": """
    y = x.t()
    if torch.isnan(y).any():
        y = torch.nan_to_num(y)
""",
    "held by something else (W9)": """
    y = x * 2
    z = y
    if torch.isnan(y).any():
        y = torch.nan_to_num(y)
    y = y + z
""",
    "dtype not known (W1)": """
    y = x * 2
    if torch.isnan(y).any():
        y = torch.clamp(y, max=1.5)
""",
    "an operator that fails for some dtypes (W6)": """
    y = x + x
    if torch.isnan(y).any():
        y = torch.relu(y)
""",
    "a derivative that is not bounded (W4)": """
    y = x * 2
    if (y > 0).all():
        y = torch.sqrt(y)
""",
    "a test of unknown shape (P1)": """
    y = x * 2
    if torch.isnan(y)[0]:
        y = torch.nan_to_num(y)
""",
    "a tensor as the bound (W1)": """
    y = x * 2
    if y.dtype == torch.float32 and torch.isnan(y).any():
        y = torch.clamp(y, max=x)
""",
    "held by another name of the same assignment (W9)": """
    z = y = x * 2
    if torch.isnan(y).any():
        y = torch.nan_to_num(y)
    x = z
""",
    "held by a statement of the same line (W9)": """
    y = x * 2; z = [y]
    if torch.isnan(y).any():
        y = torch.nan_to_num(y)
    x = z[0]
""",
    "gradients are not recorded there (W5)": """
    y = x * 2
    with torch.no_grad():
        if torch.isnan(y).any():
            y = torch.nan_to_num(y)
""",
    "gradients are switched off before": """
    y = x * 2
    torch.set_grad_enabled(False)
    if torch.isnan(y).any():
        y = torch.nan_to_num(y)
    torch.set_grad_enabled(True)
""",
    "a quotient that may be complex (W6)": """
    y = x / 2
    if torch.isnan(y).any():
        y = torch.clamp(y, max=1.5)
""",
    "a bound that half precision cannot hold (W6)": """
    y = x * 2
    if y.dtype == torch.float16 and torch.isnan(y).any():
        y = torch.clamp(y, max=1e6)
""",
    "a bound that may be missing (W6)": """
    y, bounds = x * 2, {}
    y = x * 2
    if torch.isnan(y).any():
        y = torch.nan_to_num(y, nan=bounds["nan"])
""",
    "a bound that is taken out of a list (W11)": """
    bounds = [1, 2]
    y = x * 2
    if torch.isnan(y).any():
        y = torch.nan_to_num(y, nan=bounds.pop())
    y = y * len(bounds)
""",
    "a preparation that may fail (W6)": """
    bounds = {}
    y = x * 2
    if y.dtype == torch.float32 and torch.isnan(y).any():
        top = bounds["top"]
        y = torch.clamp(y, max=top)
""",
    "arguments that the operator does not take (W6)": """
    y = x * 2
    if torch.isnan(y).any():
        y = torch.nan_to_num(y, 0.0, nan=1.0)
""",
    "a test that may be of bytes (P1)": """
    y = x * 2
    if x.any():
        y = torch.nan_to_num(y)
""",
    "a name of the side is used later (W14)": """
    y = x * 2
    top = 5
    if y.dtype == torch.float32 and torch.isnan(y).any():
        top = 6
        y = torch.clamp(y, max=top)
    y = y + top
""",
}


@pytest.mark.parametrize("name", named(NOT_PROVEN, "refused"))
@pytest.mark.semantics("X3", "refused")
def test_without_proof_plain_leaves_it_alone(name: str, tmp_path: Path) -> None:
    text = f"import torch\n\ndef entry(x: torch.Tensor):{NOT_PROVEN[name]}    return y * 1\n"
    assert "torch.where" not in mended(text, tmp_path).source
    findings = check_source(text, str(tmp_path / "program.py"), plain=True)
    assert [(f.code, f.status) for f in findings] == [("GM101", "refused")]
    assert findings[0].reason == "the fix would import graphmend at run time (--plain)"
