"""P1 to P7: the truth of a predicate is that of Python, and is asked for where Python asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.semantics.alike import keeps, refused
from tests.semantics.lines import named

LEGAL = {
    "one element in any number of dimensions (P1, P2)": """
import torch

def entry(x: torch.Tensor, p: torch.Tensor):
    y = x * 1
    if p:
        y = y + 1
    z = y * 2 if p > 0 else y * 3
    if not p:
        z = z - 1
    return y, z

def make():
    one, zero = torch.ones(1, 1), torch.zeros(1, 1, 1)
    inputs = [(torch.ones(()), one), (torch.ones(3), zero), (torch.ones(2, 3), one[0])]
    return entry, inputs
""",
    "numbers of every type, NaN among them (P3)": """
import torch

def entry(x: torch.Tensor, p: torch.Tensor):
    y = x * 1
    if p:
        y = y + 1
    if p.sum() or not p:
        y = y * 2
    return y

def make():
    nan = float("nan")
    predicates = [torch.tensor(v) for v in (nan, -0.0, 2, 0, -1, True, False, nan + 0j, 1j, 0j)]
    predicates += [torch.tensor(nan).half(), torch.tensor(0.1).half(), torch.tensor(256).short()]
    return entry, [(torch.ones(2), p) for p in predicates]
""",
    "a static part keeps what stands behind it from running (P4)": """
import torch

def entry(x: torch.Tensor, y, flag: bool):
    z = x * 1
    if flag and x.sum() > 0:
        z = z + 1
    if not flag or (x < 0).any():
        z = z * 2
    if y is not None and y.sum() > 0:
        z = z - y
    if y is None or x.max() > 1:
        z = z - 3
    if x.dim() == 2 and x[:, 1].sum() > 0:
        z = z / 2
    return z * 3 if flag and x.max() > 0 else z

def make():
    x = torch.tensor([1.0, 2.0])
    return entry, [(x, x, True), (-x, x, True), (x, None, False), (torch.ones(2, 2), None, True)]
""",
    "comparisons in a chain, any and all, conditional expressions (P4)": """
import torch

def entry(xs: list[torch.Tensor], low: float, flag: bool):
    x = xs[0] * 1
    peak = x.max()
    if low < peak < 5:
        x = x + 10
    if any([t.isnan().any() for t in xs]):
        x = x * 2
    if all([(t > 1).any() for t in xs]):
        x = x / 2
    chosen = xs[0] if flag else xs[1]
    if chosen.sum() > 3:
        x = x - 1
    return x

def make():
    one, two, nan = torch.ones(2), torch.full((2,), 2.0), torch.tensor([1.0, float("nan")])
    lists = ([one, two], [two, two], [two, nan], [nan, one])
    return entry, [(xs, 0.5, True) for xs in lists] + [([one, two], 1.5, False)]
""",
    "the side changes what the predicate read, a walrus binds (P5)": """
import torch

def entry(x: torch.Tensor):
    y = x * 1
    if y.sum() > 0:
        y = y - 10
    else:
        y = y + 10
    if (peak := y.abs().max()) > 9:
        y = y / peak
    return y, peak * 2

def make():
    return entry, [(torch.tensor(v),) for v in ([1.0, 2.0], [-1.0, -2.0], [-20.0, 20.0])]
""",
    "a predicate that counts its calls (P5)": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.asked = 0

    def large(self, x):
        self.asked += 1
        return x.max() > 1

    def forward(self, x: torch.Tensor):
        y = x * 2
        if self.large(x):
            y = y - 1
        return y * 1

def make():
    return Net(), [(torch.ones(2),), (torch.full((2,), 3.0),)] * 2
""",
    "flags of every kind where a tensor may stand (P6)": """
import torch

def step(x: torch.Tensor, flag):
    y = x * 1
    if flag:
        y = y - 1
    return y

def entry(x: torch.Tensor):
    y = step(x, True) * step(x, False) + step(x, None) - step(x, "on") + step(x, 0)
    return y, step(x, x.sum() > 2), step(x, x.max())

def make():
    return entry, [(torch.ones(2),), (torch.ones(2) * 2,), (torch.zeros(2),)]
""",
    "several predicates are true, the first one wins (P7)": """
import torch

def entry(x: torch.Tensor):
    peak = x.max()
    if peak > 30:
        raise ValueError(f"above thirty: {peak.item()}")
    elif peak > 20:
        raise OverflowError("above twenty")
    if peak > 10:
        y = x / 10
    elif peak > 5:
        y = x / 5
    elif peak > 1:
        y = x - 1
    else:
        y = x
    return 1 * y if peak > 12 else 2 * y if peak > 3 else 3 * y

def make():
    return entry, [(torch.tensor([v, 0.5]),) for v in (40.0, 25.0, 15.0, 11.0, 6.0, 2.0, 1.0)]
""",
}


@pytest.mark.parametrize("name", named(LEGAL, "legal"))
def test_a_predicate_is_true_as_in_python(name: str, tmp_path: Path) -> None:
    keeps(LEGAL[name], tmp_path, gradients=True)


KEPT = {
    "none and several elements in an if (P1)": """
import torch

def entry(x: torch.Tensor):
    y = x.sum()
    if x:
        y = y + 1
    return y

def make():
    return entry, [(torch.ones(n),) for n in (1, 0, 3)]
""",
    "none and several elements in a conditional expression and a combination (P1)": """
import torch

def entry(x: torch.Tensor, flag: bool):
    y = x.sum()
    y = y * 2 if flag and not x > 1 else y - 1
    return y

def make():
    return entry, [(torch.ones(n), flag) for n in (0, 1, 3) for flag in (True, False)]
""",
}


@pytest.mark.parametrize("name", named(KEPT, "refused"))
def test_where_it_may_raise_the_branch_stays(name: str, tmp_path: Path) -> None:
    keeps(KEPT[name], tmp_path, captured=False)


@pytest.mark.semantics("P1", "legal")
def test_a_guard_on_no_elements_raises_what_python_raises(tmp_path: Path) -> None:
    text = """
import torch

def entry(x: torch.Tensor, y: torch.Tensor):
    if x < 0:
        raise ValueError("negative")
    assert y, "zero"
    return x.sum() + y.sum()

def make():
    none, one, three = torch.ones(0), torch.ones(1, 1), torch.ones(3)
    return entry, [(one, one), (none, one), (one, none), (three, one), (one, three), (-one, one)]
"""
    keeps(text, tmp_path)


REFUSED = {
    "an operand that may raise where Python skips it (P4)": (
        "if (n != 0).all() and (x // n > 1).any():\n        y = y + 1",
        "where Python might skip it",
    ),
    "an operand whose size depends on data (P4)": (
        "if x.any() and x[x > 0].sum() > 1:\n        y = y + 1",
        "where Python might skip it",
    ),
    "an operand that writes (P4)": (
        "if x.any() and n.add_(1).any():\n        y = y + 1",
        "where Python might skip it",
    ),
    "an operand that draws random numbers (P4)": (
        "if x.any() or torch.rand(()) > 0.5:\n        y = y + 1",
        "where Python might skip it",
    ),
    "a value that is used (P4)": ("y = (x > 0).all() or (y < 0).any()", "no rule turns this test"),
    "the builtin any of a generator (P4)": (
        "if any(r.sum() > 0 for r in x.unbind(0)):\n        y = y + 1",
        "reads tensor data into Python",
    ),
}


@pytest.mark.parametrize("name", named(REFUSED, "refused"))
def test_what_cannot_be_asked_early_is_left(name: str, tmp_path: Path) -> None:
    statement, reason = REFUSED[name]
    head = "import torch\n\ndef entry(x: torch.Tensor, n: torch.Tensor):\n    y = x * 1\n"
    refused(f"{head}    {statement}\n    return y\n", tmp_path, "GM101", reason)
