"""What [Trap] must leave alone, with the reason it gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.semantics.lines import named
from tests.sides import mended

REFUSED = {
    "caught by the caller (T4)": (
        """
import torch

def checked(scale):
    if (scale <= 0).any():
        raise ValueError("scale")
    return scale

def entry(x, scale):
    try:
        s = checked(scale)
    except ValueError:
        s = torch.ones_like(scale)
    return x / s
""",
        "except",
    ),
    "caught in place (T4)": (
        """
import torch

def entry(x):
    try:
        if torch.isnan(x).any():
            raise ValueError("nan")
    except ValueError:
        return x.nan_to_num()
    return x * 2
""",
        "except",
    ),
    "swallowed by a context manager (T4)": (
        """
import contextlib
import torch

def entry(x):
    with contextlib.suppress(ValueError):
        if torch.isnan(x).any():
            raise ValueError("nan")
    return x * 2
""",
        "suppress",
    ),
    "in a try whose handlers are for something else (T4)": (
        """
import torch

def entry(x):
    try:
        if torch.isnan(x).any():
            raise ValueError("nan")
    except ImportError:
        return x.nan_to_num()
    return x * 2
""",
        "handlers",
    ),
    "a finally block counts (T8)": (
        """
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        try:
            if torch.isnan(x).any():
                raise ValueError("nan")
            return x * 2
        finally:
            self.left = 1
""",
        "try/finally",
    ),
    "an exception made before": (
        """
import torch

def entry(x):
    error = ValueError("nan")
    if torch.isnan(x).any():
        raise error
    return x * 2
""",
        "made before the guard",
    ),
    "a finally block prints (T8)": (
        """
import torch

def entry(x):
    try:
        if torch.isnan(x).any():
            raise ValueError("nan")
        return x * 2
    finally:
        print("left")
""",
        "try/finally",
    ),
    "protects an index beside it in a branch on data (T6)": (
        """
import torch

def entry(x, ids):
    y = x * 2
    if x.sum() > 0:
        if (ids >= x.shape[0]).any():
            raise ValueError("id out of range")
        y = torch.index_select(x, 0, ids)
    return y
""",
        "can fail on data",
    ),
    "protects an index (T6)": (
        """
import torch
import torch.nn.functional as F

def entry(ids, table):
    if (ids >= table.shape[0]).any():
        raise ValueError("id out of range")
    return F.embedding(ids, table)
""",
        "can fail on data",
    ),
    "protects an integer division (T6)": (
        """
import torch

def entry(a: torch.Tensor, b: torch.Tensor):
    if (b == 0).any():
        raise ZeroDivisionError("b")
    return torch.floor_divide(a, b)
""",
        "can fail on data",
    ),
    "attributes written on both sides (T5, T8)": (
        """
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        self.seen = 1
        if torch.isnan(x).any():
            raise ValueError("nan")
        self.passed = 1
        return x * 2
""",
        "both before and after",
    ),
    "impure message (D3)": (
        """
import time
import torch

def entry(x):
    if torch.isnan(x).any():
        raise ValueError(f"nan at {time.time()}")
    return x * 2
""",
        "impure",
    ),
    "re-raises": (
        """
import torch

def entry(x, y):
    try:
        z = x.view(y)
    except RuntimeError:
        if torch.isnan(x).any():
            raise
        z = x
    return z
""",
        "",
    ),
    "does more than raise": (
        """
import torch

def entry(x, log):
    if torch.isnan(x).any():
        log.append(x)
        raise ValueError("nan")
    return x * 2
""",
        "more than raise",
    ),
    "private name of a class": (
        """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.__limit = 3

    def forward(self, x):
        if torch.isnan(x).any():
            raise ValueError(f"limit {self.__limit}")
        return x * 2
""",
        "private name",
    ),
    "scripted (X1)": (
        """
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        if bool(torch.isnan(x).any()):
            raise ValueError("nan")
        return x * 2

scripted = torch.jit.script(Net())
""",
        "script",
    ),
    "asynchronous": (
        """
import torch
from torch import nn

class Net(nn.Module):
    async def forward(self, x):
        if torch.isnan(x).any():
            raise ValueError("nan")
        return x * 2
""",
        "asynchronous",
    ),
}


@pytest.mark.parametrize("name", named(REFUSED, "refused"))
def test_refused_with_its_reason(name: str, tmp_path: Path) -> None:
    text, reason = REFUSED[name]
    result = mended(text, tmp_path)
    assert result.source == text
    refused = [f for f in result.findings if f.code.startswith("GM3")]
    assert refused, result.findings
    assert all(f.status == "refused" and reason in (f.reason or "") for f in refused), refused


SILENT = {
    "static condition": """
import torch

def entry(x):
    if x.shape[-1] != 3:
        raise ValueError("three channels")
    return x.mean(-1)
""",
    "captured by torch itself": """
import torch

def entry(img, gamma):
    torch._assert_async((gamma >= 0).all(), "gamma must be non-negative")
    return img.pow(gamma)
""",
    "not traced": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, weight):
        super().__init__()
        if torch.isnan(weight).any():
            raise ValueError("nan")
        self.weight = nn.Parameter(weight)

    def forward(self, x):
        return x @ self.weight
""",
}


@pytest.mark.parametrize("name", SILENT)
def test_nothing_to_report(name: str, tmp_path: Path) -> None:
    result = mended(SILENT[name], tmp_path)
    assert (result.source, result.findings) == (SILENT[name], ())
