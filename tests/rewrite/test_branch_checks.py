"""Branches that cannot become selections, each refused for its reason."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from graphmend.api import fix_source

_HEAD = """\
import time
import warnings

import torch
from torch import nn

shared = 0


"""
# One side of `if x.max() > 1`, in a function that goes on with `y`.
SIDES = {
    "it defines a function or class on one side": "y = (lambda a: a + 1)(x)",
    "it handles exceptions on one side": """
try:
    y = x + 1
except ValueError:
    y = x + 2
""",
    "it holds a statement on one side that cannot move: delete": "del y\ny = x + 1",
    "it declares names of another scope on one side": "global shared\ny = x + 1",
    "`globals` would see another frame": "y = x + len(globals())",
    "`y = print(x) or x * 2` writes output on one side": "y = print(x) or x * 2",
    "`y = x * time.perf_counter()` depends on when it runs": "y = x * time.perf_counter()",
    "shows the line of a caller": "warnings.warn('large', stacklevel=2)\ny = x * 2",
    "makes a size that depends on data": "y = x[x > 0].sum() + x",
    "is read back into Python": "y = x.min().item()",
    "`x.numpy()` on one side is no tensor": "y = x.numpy()",
}
# A test of a branch that only binds a tensor.
TESTS = {
    "`any(x > 0)` reads tensor data into Python": "any(x > 0)",
    "`x.max().item()` reads tensor data into Python": "x.sum() > x.max().item()",
    "its test is too involved": "(x if x.dim() else y).sum() > 1",
    "it asks whether a value is in a container or tensor": "x.max() in (1, 2)",
    "`n` is read back into Python before the branch": "n",
}
FUNCTIONS = {
    "it binds a name inside an expression": """
def entry(x):
    y = (z := x * 2) if x.max() > 1 else x * 3
    return y + 1
""",
    "it awaits or yields on one side": """
def entry(x):
    y = x * 1
    if x.max() > 1:
        y = x * 2
        yield y
    yield y * 2
""",
    "it re-raises the exception being handled": """
def entry(x, flag: bool):
    y = x * 1
    try:
        y = y + 1
    except ValueError:
        if x.max() > 1:
            y = x * 2
            if flag:
                raise
    return y * 2
""",
    "`__class__` means the class only inside its methods": """
class Net(nn.Module):
    scale = 3

    def forward(self, x):
        y = x * 1
        if x.max() > 1:
            y = x * __class__.scale
        return y * 2
""",
    "`shared` belongs to another scope": """
def entry(x):
    global shared
    y = x * 1
    if x.max() > 1:
        shared = x * 2
    return y * 2
""",
    "`n` belongs to another scope": """
def make():
    n = 0

    def entry(x):
        nonlocal n
        y = x * 1
        if x.max() > 1:
            n = x.shape[0]
            y = x * 2
        return y * 2

    return torch.compile(entry)
""",
    "it stands in an asynchronous function": """
class Net(nn.Module):
    async def forward(self, x):
        y = x * 1
        if x.max() > 1:
            y = x * 2
        return y
""",
    "what follows it stands behind the other side of a branch around it": """
def entry(x, flag: bool):
    if flag:
        if x.max() > 1:
            return x + 1
        y = x * 1
    else:
        return x * 5
    return y * 2
""",
    "what uses its numbers returns on some paths only": """
def entry(x, flag: bool):
    peak = 1.0 if x.max() > 1 else 255.0
    if flag:
        return x / peak
    y = x + 1
    return y
""",
    "its sides leave Python values": """
def entry(x):
    for _ in range(2):
        peak = 1.0 if x.max() > 1 else 255.0
        x = x * 2
    return x / peak
""",
    "one side leaves None and the other a value": """
def entry(x):
    if x.max() > 1:
        return x * 1, None
    return x * 1, x * 2
""",
    "its sides leave sequences of different lengths": """
def entry(x):
    if x.max() > 1:
        return x * 1, x * 2
    return x * 1, x * 2, x * 3
""",
}
LAYOUTS = {
    "a comment stands where the fix would have to drop it": """
def entry(x):
    y = (x + 1 if (x.max() > 1)  # why
         else x - 1)
    return y * 2
""",
    "a comment stands between its parts": """
def entry(x):
    y = (x + 1  # why
         if x.max() > 1 else x - 1)
    return y * 2
""",
    "a comment stands where the fix would have to drop it (a number)": """
def entry(x):
    peak = (1.0 if x.max() > 1  # bright
            else 255.0)
    return x / peak
""",
    "it shares its line with other statements": """
def entry(x):
    y = x * 1; peak = 1.0 if x.max() > 1 else 255.0
    return y / peak
""",
    "a comment stands between its test and the colon": """
def entry(x):
    y = x * 1
    if (x.max() > 1  # why
        ):
        y = x + 1
    return y * 2
""",
    "a comment in its test would be lost": """
def entry(x):
    y = x * 1
    if (  # why
        x.max() > 1):
        y = x + 1
    return y * 2
""",
    "its else is not on a line of its own": """
def entry(x):
    if x.max() > 1:
        y = x + 1
    else \\
        :
        y = x - 1
    return y * 2
""",
    "what follows it is indented in another way": """
def entry(x, flag: bool):
\tif flag:
\t\treturn x * 5
\telse:
          if x.max() > 1:
            return x + 1
          y = x * 3
\ty = y - 1
\treturn y * 2
""",
    "a comment in its test would be lost (plain)": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        h = self.fc(x)
        if h.dtype == torch.float16 and (
            # overflow
            torch.isinf(h).any()
        ):
            h = torch.clamp(h, min=-100, max=100)
        return h
""",
    "a comment at its head would be lost": """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        h = self.fc(x)
        if torch.isinf(h).any():  # overflow
            h = torch.clamp(h, min=-100, max=100)
        return h
""",
}


def _reasons(text: str, folder: Path) -> list[str]:
    """Why branches of a program are refused."""
    path = folder / "program.py"
    path.write_text(text)
    findings = fix_source(text, str(path)).findings
    return [str(finding.reason) for finding in findings if finding.code == "GM101"]


def _assert_refused(text: str, reason: str, folder: Path) -> None:
    found = _reasons(_HEAD + text, folder)
    assert any(reason.partition(" (")[0] in one for one in found), found


@pytest.mark.parametrize("reason", SIDES)
def test_a_side_that_cannot_run_untaken(reason: str, tmp_path: Path) -> None:
    side = textwrap.indent(SIDES[reason].strip("\n"), " " * 8)
    _assert_refused(
        f"def entry(x):\n    y = x * 1\n    if x.max() > 1:\n{side}\n    return y * 2\n",
        reason,
        tmp_path,
    )


@pytest.mark.parametrize("reason", TESTS)
def test_a_test_that_reads_data(reason: str, tmp_path: Path) -> None:
    head = "def entry(x: torch.Tensor):\n    y, n = x * 1, x.max().item()\n"
    body = f"    if {TESTS[reason]}:\n        y = x + 1\n    return y * 2\n"
    found = _reasons(_HEAD + head + body, tmp_path)
    assert any(reason in one for one in found), found


@pytest.mark.parametrize("reason", FUNCTIONS)
def test_a_branch_that_cannot_be_taken_out(reason: str, tmp_path: Path) -> None:
    _assert_refused(FUNCTIONS[reason], reason, tmp_path)


@pytest.mark.parametrize("reason", LAYOUTS)
def test_a_layout_that_would_be_lost(reason: str, tmp_path: Path) -> None:
    _assert_refused(LAYOUTS[reason], reason, tmp_path)
