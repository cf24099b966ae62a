"""Selections under Inductor, which keeps float16 intermediates in float32 unless told otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch._inductor import config

from tests.sides import load, mended

BLOCK = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.gain = nn.Parameter(torch.linspace(1.0, 300.0, 8))

    def forward(self, x):
        h = {start}
        if h.dtype == torch.float16 and (torch.isinf(h).any() or torch.isnan(h).any()):
            limit = torch.finfo(h.dtype).max - 1000
            h = torch.clamp(h, min=-limit, max=limit)
        if h.abs().max() > 100:
            h = h / 3
        return self.norm(h * 0.5)


def make():
    torch.manual_seed(0)
    small = torch.randn(2, 8).half()
    large = small * 20000
    return Block().half(), [(small,), (large,), (small,)]
"""


# Inductor's own imports and its C++ build warn; nothing of the program does.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("start", ["x * self.gain", "self.gain * x.relu() + x"])
def test_half_precision_is_that_of_eager_execution(start: str, tmp_path: Path) -> None:
    text = BLOCK.format(start=start)
    original, inputs = load(text, tmp_path / "original.py").make()
    expected = [original(*arguments) for arguments in inputs]
    result = mended(text, tmp_path)
    assert [f.status for f in result.findings] == ["fixed", "fixed"]
    network, _ = load(result.source, tmp_path / "mended.py").make()
    torch._dynamo.reset()
    with config.patch(emulate_precision_casts=True):
        compiled = torch.compile(network, fullgraph=True)
        for arguments, value in zip(inputs, expected, strict=True):
            assert torch.equal(compiled(*arguments), value)
