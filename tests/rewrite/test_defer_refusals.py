"""What [Defer] must leave alone, with the reason it gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.semantics.lines import named
from tests.sides import mended

REFUSED = {
    "impure argument (D3)": (
        """
import torch

_ticks = [0]

def tick():
    _ticks[0] += 1
    return _ticks[0]

def entry(x):
    x = torch.sin(x)
    print("t", tick())
    return torch.sin(x)
""",
        "tick",
    ),
    "clock (D3)": (
        """
import time
import torch

def entry(x):
    print("t", time.perf_counter())
    return torch.sin(x)
""",
        "impure",
    ),
    "next of an iterator (D3)": (
        """
import torch

def entry(x, names):
    it = iter(names)
    print(next(it))
    return torch.sin(x)
""",
        "next",
    ),
    "random argument (W7)": (
        """
import torch

def entry(x):
    print(torch.rand(2).mean().item())
    return torch.sin(x)
""",
        "effect",
    ),
    "prints into a buffer (D14)": (
        """
import torch

def entry(x, buffer):
    print(x.mean(), file=buffer)
    return torch.sin(x)
""",
        "buffer",
    ),
    "redirected (D14)": (
        """
import contextlib, io
import torch

def entry(x):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print("x")
    return torch.sin(x) + len(out.getvalue())
""",
        "redirect_stdout",
    ),
    "warnings filtered (D15)": (
        """
import warnings
import torch

def entry(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("quiet")
    return torch.sin(x)
""",
        "catch_warnings",
    ),
    "exception being handled (D1)": (
        """
import logging
import torch

logger = logging.getLogger(__name__)

def entry(x, n):
    try:
        y = x.view(n)
    except RuntimeError:
        logger.exception("cannot view")
        y = x
    return torch.sin(y)
""",
        "exception being handled",
    ),
    "stack shown (D1)": (
        """
import logging
import torch

logger = logging.getLogger(__name__)

def entry(x):
    logger.info("here", stack_info=True)
    return torch.sin(x)
""",
        "stack",
    ),
    "shown data fails later (D9)": (
        """
import torch
import torch.nn.functional as F

def entry(ids, table):
    print(ids)
    return F.embedding(ids, table)
""",
        "can fail on data",
    ),
    "value used (D1)": (
        """
import torch

def entry(x):
    y = print("x")
    return torch.sin(x), y
""",
        "value is used",
    ),
    "two equal warnings in one statement (D10)": (
        """
import warnings
import torch

def entry(x):
    if x.max() > 100:
        warnings.warn("out of range")
    elif x.min() < -100:
        warnings.warn("out of range")
    return x * 2
""",
        "two of its warnings may be equal",
    ),
}


@pytest.mark.parametrize("name", named(REFUSED, "refused"))
def test_refused_with_its_reason(name: str, tmp_path: Path) -> None:
    text, reason = REFUSED[name]
    result = mended(text, tmp_path)
    assert result.source == text
    assert result.findings
    assert all(f.status == "refused" for f in result.findings), result.findings
    assert any(reason in (f.reason or "") for f in result.findings), result.findings


SILENT = {
    "shadowed print (D6)": """
import torch

def print(*args):
    return None

def entry(x):
    print(x)
    return torch.sin(x)
""",
    "a method that is called info (D6)": """
import torch
from torch import nn

class Net(nn.Module):
    def info(self, text):
        self.text = text

    def forward(self, x):
        self.info("x")
        return torch.sin(x)
""",
    "constructor and training loop (D7)": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        print("building")
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)

def train(model, loader, optimizer):
    for x, y in loader:
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        print(loss.item())

if __name__ == "__main__":
    net = Net()
    train(net, [], torch.optim.SGD(net.parameters()))
""",
    "disabled function (D7)": """
import torch
from torch import nn

@torch.compiler.disable
def show(x):
    print(x.mean())

class Net(nn.Module):
    def forward(self, x):
        show(x)
        return torch.sin(x)
""",
}


@pytest.mark.parametrize("name", named(SILENT, "refused"))
def test_nothing_to_report(name: str, tmp_path: Path) -> None:
    result = mended(SILENT[name], tmp_path)
    assert (result.source, result.findings) == (SILENT[name], ())


def test_a_logger_of_unknown_class_is_an_assumption(tmp_path: Path) -> None:
    text = """
import torch
from somewhere import logger

def entry(x):
    logger.info("x")
    return torch.sin(x)
"""
    safe, unsafe = mended(text, tmp_path), mended(text, tmp_path, unsafe=True)
    assert safe.source == text
    assert [(f.status, f.grade) for f in safe.findings] == [("refused", "unsafe")]
    assert "logging.Logger" in (safe.findings[0].reason or "")
    assert unsafe.source != text
