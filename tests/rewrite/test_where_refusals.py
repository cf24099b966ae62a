"""Branches that [Where] must leave alone, with the reason it gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.semantics.lines import named
from tests.sides import mended

REFUSED = {
    "random numbers on one side (W7)": (
        """
import torch
import torch.nn.functional as F

def entry(x):
    y = x * 1
    if x.max() > 1:
        y = F.dropout(y, 0.5)
    return y * 2
""",
        "random",
    ),
    "an index that only its side may use (W6)": (
        """
import torch

def entry(x: torch.Tensor, i: torch.Tensor):
    y = x * 1
    if (i < x.shape[0]).all():
        y = x[i]
    return y * 2
""",
        "may fail on data",
    ),
    "integer division (W6)": (
        """
import torch

def entry(x, n):
    y = x * 1
    if (n != 0).all():
        y = x // n
    return y * 2
""",
        "may fail on data",
    ),
    "a linalg routine (W6)": (
        """
import torch

def entry(x):
    y = x * 1
    if torch.linalg.det(x) > 0:
        y = torch.linalg.inv(x)
    return y * 2
""",
        "may fail on data",
    ),
    "None on one side (W3)": (
        """
import torch

def entry(x):
    mask = x > 0
    if mask.all():
        mask = None
    return mask
""",
        "Python values",
    ),
    "a number that is handed out (W2)": (
        """
import torch

def entry(x):
    return 1.0 if x.max() > 1 else 255.0
""",
        "Python values",
    ),
    "an argument that is handed out (W9)": (
        """
import torch

def entry(x):
    m = torch.isnan(x)
    if m.any():
        x = x.masked_fill(m, 0)
    return x
""",
        "may be returned",
    ),
    "written in place afterwards (W9)": (
        """
import torch

def entry(x, z):
    y = z
    if x.max() > 1:
        y = x
    y.add_(1)
    return y * 2
""",
        "may write",
    ),
    "an attribute that shares a tensor which is written in place (W8)": (
        """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.zeros(2)
        self.b = torch.zeros(2)

    def forward(self, x):
        if x.max() > 1:
            self.a = self.b
        self.b.add_(1)
        return x + self.a
""",
        "`.b` is written in place elsewhere",
    ),
    "a list that grows on one side (W8)": (
        """
import torch

def entry(x, seen):
    y = x * 1
    if x.max() > 1:
        seen.append(x)
    return y * 2
""",
        "changes an object",
    ),
    "written in place with gradients (W8)": (
        """
import torch

def entry(x):
    y = x * 1
    if x.max() > 1:
        y.clamp_(max=1)
    return y * 2
""",
        "in place",
    ),
    "a size that depends on data (W6)": (
        """
import torch

def entry(x):
    y = x.sum()
    if x.max() > 1:
        y = x[x > 1].sum()
    return y * 2
""",
        "on one side",
    ),
    "leaves a loop (W10)": (
        """
import torch

def entry(x):
    for _ in range(3):
        x = x * 2
        if x.max() > 4:
            break
    return x
""",
        "leaves a loop",
    ),
    "returns on some paths (W10)": (
        """
import torch

def entry(x, flag: bool):
    if x.max() > 4:
        if flag:
            return x * 2
        x = x + 1
    return x - 1
""",
        "some paths",
    ),
    "returns from inside a static branch (W10)": (
        """
import torch

def entry(x, flag: bool):
    if flag:
        if x.max() > 4:
            return x * 2
    return x - 1
""",
        "inside a block",
    ),
    "possibly unbound afterwards (W10)": (
        """
import torch

def entry(x):
    if x.max() > 4:
        y = x + 1
    return y * 2
""",
        "may be unbound",
    ),
    "unbound where an exception is swallowed (W10)": (
        """
from contextlib import suppress
import torch

def entry(x):
    z = x * 1
    if x.max() > 4:
        with suppress(RuntimeError):
            y = x + 1
        z = z + 1
    else:
        y = x
    return y * z
""",
        "may be unbound",
    ),
    "a name that a closure reads (W10)": (
        """
import torch

def entry(x):
    y = x * 1
    add = lambda z: z + y
    if x.max() > 4:
        y = x + 1
    return add(x)
""",
        "inside this one",
    ),
    "a test that cannot be evaluated early (P4)": (
        """
import torch

def entry(x, y):
    z = x * 1
    if (x.shape == y.shape).__bool__() and x.max() > 1 and (x > y).all():
        z = x + y
    return z
""",
        "",
    ),
    "an effect in a test (P4)": (
        """
import time
import torch

def entry(x):
    z = x * 1
    if x.max() > 1 and time.time() > 0:
        z = x + 1
    return z
""",
        "where Python might skip it",
    ),
    "what its test reads is a Python value (P4)": (
        """
import torch

def entry(x):
    z = x * 1
    if x.max().item() > 0.1:
        z = x + 1
    return z
""",
        "reads tensor data into Python",
    ),
    "an exception that is raised on one side (W6)": (
        """
import torch

def entry(x):
    y = x * 1
    if x.max() > 1:
        y = x + 1
        if y.shape[0] == 3:
            raise ValueError("three")
        y = y * 2
    return y
""",
        "raises",
    ),
    "dictionaries with different keys": (
        """
import torch

def entry(x):
    y = x * 1
    if (y > 1).any():
        found = {"large": y}
    else:
        found = dict(small=y)
    return list(found), y
""",
        "dictionaries with different keys",
    ),
    "log records on both sides": (
        """
import logging
import torch

logger = logging.getLogger(__name__)

def entry(x):
    y = x * 1
    if x.max() > 1:
        logger.info("large")
        y = x + 1
    else:
        logger.info("small")
    return y
""",
        "log records on both sides",
    ),
    "a log record in a function that calls itself": (
        """
import logging
import torch

logger = logging.getLogger(__name__)

def entry(x, depth: int = 1):
    y = x * 1
    if x.max() > 1:
        logger.info("large")
        y = x + 1
    return entry(y, depth - 1) if depth else y
""",
        "whose name is in use",
    ),
    "a break that stays on one side (W11)": (
        """
import torch

def entry(x):
    y = x * 1
    if x.max() > 1:
        y = y * x.sum().item()
    return y
""",
        "still breaks the graph",
    ),
    "an exception handler on one side (W12)": (
        """
import torch

def entry(x):
    y = x * 1
    if x.max() > 1:
        try:
            y = x + 1
        except RuntimeError:
            y = x
    return y
""",
        "handles exceptions",
    ),
    "a number that an attribute keeps (W2)": (
        """
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        k = 1 if x.max() > 1 else 2
        self.k = k
        return x * k
""",
        "Python values",
    ),
    "a function that looks at its names (W14)": (
        """
import torch

def entry(x):
    y = x * 1
    if y.max() > 1:
        y = y + 1
    return y * len(locals())
""",
        "would see the names",
    ),
    "inside an f-string": (
        """
import torch

def entry(x):
    y = x * 1
    return y, f"{(y if y.max() > 1 else y * 2).shape}"
""",
        "f-string",
    ),
    "compiled by TorchScript too (X1)": (
        """
import torch

@torch.jit.script
def entry(x):
    y = x * 1
    if x.max() > 1:
        y = x + 1
    return y
""",
        "",
    ),
}


@pytest.mark.parametrize("name", named(REFUSED, "refused"))
def test_left_alone_with_the_reason(name: str, tmp_path: Path) -> None:
    text, reason = REFUSED[name]
    result = mended(text, tmp_path)
    assert "select" not in result.source
    branches = [finding for finding in result.findings if finding.code == "GM101"]
    if reason:
        assert branches, result.findings
        assert all(f.status == "refused" for f in branches)
        assert any(reason in (f.reason or "") for f in branches), branches


@pytest.mark.semantics("W11", "refused")
def test_an_unknown_call_is_an_assumption(tmp_path: Path) -> None:
    text = """
import torch
from elsewhere import shift, work

def entry(x):
    y = x * 1
    if x.max() > 1:
        y = work(y) + shift(y)
    return y * 2
"""
    safe, unsafe = mended(text, tmp_path), mended(text, tmp_path, unsafe=True)
    (left,), (made,) = safe.findings, unsafe.findings
    assert safe.source == text and "select(" in unsafe.source
    assert (left.status, made.status) == ("refused", "fixed")
    assert left.grade == made.grade == "unsafe"
    assumed = "assumes that `shift(..)` and `work(..)` only compute their results"
    assert left.reason == made.reason == assumed


SILENT = {
    "shapes and flags": """
import torch

def entry(x, flag: bool):
    if x.shape[0] > 2 and flag or x.dtype == torch.float16:
        x = x + 1
    return x * 2
""",
    "code that builds": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, w):
        super().__init__()
        if w.max() > 1:
            w = w / 2
        self.w = nn.Parameter(w)

    def forward(self, x):
        return x * self.w
""",
}


@pytest.mark.parametrize("name", SILENT)
def test_nothing_to_report(name: str, tmp_path: Path) -> None:
    result = mended(SILENT[name], tmp_path)
    assert (result.source, result.findings) == (SILENT[name], ())
