"""Code as long as generators and unrolled loops write it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.sides import mended

_HEAD = "import torch\nfrom torch import nn\n\n\ndef add(x, i):\n    return x + i\n\n\n"
_CLASS = "class Net(nn.Module):\n    def forward(self, x):\n"
_TAIL = "        print('a', x.shape)\n        return torch.sin(x)\n"


@pytest.mark.parametrize(
    "line", ["x = x + 1", "x = (x + 1).mul(2)", "x = add(x, 2)", "x = x.add(1)"]
)
def test_many_rebindings_of_a_name(line: str, tmp_path: Path) -> None:
    limit = sys.getrecursionlimit()
    text = _HEAD + _CLASS + f"        {line}\n" * 400 + _TAIL
    assert [f.status for f in mended(text, tmp_path).findings] == ["fixed"]
    assert sys.getrecursionlimit() == limit


def test_a_long_expression(tmp_path: Path) -> None:
    text = _HEAD + _CLASS + f"        x = {' + '.join(['x'] * 400)}\n" + _TAIL
    assert [f.status for f in mended(text, tmp_path).findings] == ["fixed"]
