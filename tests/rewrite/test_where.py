"""Branches that [Where] mends: both sides behave alike, and the text is as a maintainer expects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.semantics.lines import named
from tests.sides import assert_mends, mended

CAPTURED = {
    "behind a guard whose message reads the name": """
import torch

def entry(x):
    y = x * 2
    torch._check(bool(y.sum() > -1e9), lambda: f"small {y.shape[0]}")
    if y.sum() > 0:
        y = y * 3
    return y + 1

def make():
    return entry, [(torch.ones(2),), (-torch.ones(2),)]
""",
    "update without else, static conjunct, or (P4)": """
import torch

def entry(x: torch.Tensor):
    h = x * 3
    if h.dtype == torch.float16 and (torch.isinf(h).any() or torch.isnan(h).any()):
        ceiling = torch.finfo(h.dtype).max - 1000
        h = torch.clamp(h, min=-ceiling, max=ceiling)
    return h * 0.5

def make():
    big = torch.tensor([6e4, -6e4, 1.0]).half()
    return entry, [(torch.ones(3).half(),), (big,), (big * float("nan"),), (torch.ones(3),)]
""",
    "both sides bind, setup on one (W14)": """
import torch

def entry(x):
    if x.sum() > 0:
        scale = x.abs().max()
        y = x / scale
    else:
        y = x * 2
    return y + 1

def make():
    return entry, [(torch.tensor([1.0, 2.0]),), (torch.tensor([-1.0, -2.0]),)]
""",
    "two names, one of them on one side only (W10)": """
import torch

def entry(x, y):
    a = x + 1
    b = y * 2
    if (x > y).all():
        c = a + b
        a, b = c * 2, c - 1
    return a, b

def make():
    one, two = torch.ones(2), torch.full((2,), 2.0)
    return entry, [(one, two), (two, one)]
""",
    "negated, in a loop (W10)": """
import torch

def entry(x, rounds: int):
    for i in range(rounds):
        x = x * 1.5
        if not (x < 5).all():
            x = x - i
    return x * 1

def make():
    return entry, [(torch.tensor([1.0, 2.0]), 4), (torch.tensor([0.1, 0.2]), 3)]
""",
    "early return (W10)": """
import torch

def entry(x):
    y = x * 2
    if y.sum() > 4:
        return y - 1

    # the small ones
    z = y + 1
    return z * z

def make():
    return entry, [(torch.ones(2),), (torch.full((2,), 3.0),)]
""",
    "returns in a chain (P7)": """
import torch

def entry(x):
    total = x.sum()
    if total > 10:
        return x / 10
    elif total > 5:  # middling
        return x / 5
    if total > 1:
        return x + 1
    return x * 2

def make():
    return entry, [(torch.tensor([v, 0.0]),) for v in (11.0, 6.0, 2.0, 0.5, float("nan"))]
""",
    "elif that rebinds (P7, W10)": """
import torch

def entry(x):
    y = x * 1
    if y.max() > 10:
        y = y / 10
    elif y.max() > 5:
        y = y / 5
    elif y.max() > 1:
        y = y - 1
    else:
        y = -y
    return y + 1

def make():
    return entry, [(torch.tensor([v, 0.0]),) for v in (11.0, 6.0, 2.0, 0.5, float("nan"))]
""",
    "elif on data behind a static test": """
import torch

def entry(x, mode: str):
    y = x * 1
    if mode == "half":
        y = y / 2
    elif y.max() > 1:
        y = y - 1
        y = y * y
    else:
        y = -y
    return y + 1

def make():
    low, high = torch.zeros(2), torch.full((2,), 3.0)
    return entry, [(low, "half"), (low, "x"), (high, "x")]
""",
    "nested (W10)": """
import torch

def entry(x, flag: bool):
    y = x + 1
    if x.min() < 0:
        if x.max() > 1:
            y = y * 2
        elif flag:
            y = y - 3
        y = y.abs()
    else:
        y = torch.where(x > 1, y, x)
    return y

def make():
    inputs = [torch.tensor(v) for v in ([-1.0, 2.0], [-1.0, 0.5], [0.5, 2.0])]
    return entry, [(x, flag) for x in inputs for flag in (True, False)]
""",
    "conditional expressions, nested (P4)": """
import torch

def entry(x):
    y = x / 2 if x.sum() > 4 else x * 2 if x.sum() > 0 else -x
    return (y + 1 if (y > 1).any() else y - 1).mean()

def make():
    return entry, [(torch.full((2,), v),) for v in (3.0, 1.0, -1.0)]
""",
    "common call with differing arguments": """
import torch
import torch.nn.functional as F

def entry(x):
    if x.norm() > 2:
        y = F.softmax(x, dim=0)
    else:
        y = F.softmax(x / 2, dim=0)
    return y * 1

def make():
    return entry, [(torch.tensor([3.0, 1.0]),), (torch.tensor([0.5, 1.0]),)]
""",
    "numbers keep their dtype (W2)": """
import torch

def entry(img):
    peak = 1.0 if img.max() <= 1 else 255.0  # guess the range
    img = img / peak
    return img.clamp(0, 1), img.shape[0]

def make():
    image = torch.tensor([[0.5, 200.0]])
    return entry, [(image,), (image / 255,), (image.double(),), (image.int(),), (image.half(),)]
""",
    "numbers in both branches of an if (W2)": """
import torch

def entry(x, y):
    if (x > 0).all():
        low, high = 0, 1
        step = 2
    else:
        low, high = -1, 1
        step = 4
    width = high - low
    x = x * width / step
    y = y.clamp(low, high)
    z = x + y
    return z

def make():
    x = torch.tensor([1, 2])
    return entry, [(x, x * 0.3), (-x, x.double())]
""",
    "a number set on one side, None on the other (W3)": """
import torch

def entry(x):
    y = x * 1
    limit = None
    if y.max() > 1:
        limit = 2.5
    if limit is not None:
        y = y.clamp(max=limit)
    return y * 2

def make():
    return entry, [(torch.ones(2),), (torch.full((2,), 3.0),)]
""",
    "a flag or a tensor (P6), a walrus (P5)": """
import torch

def inner(x, flag):
    y = x * 1
    if flag:
        y = y + 1
    return y

def entry(x, on: bool):
    y = inner(x, on) + inner(x, x.sum() > 0)
    if (top := y.max()) > 3:
        y = y - top
    return y * 1

def make():
    return entry, [(torch.ones(2), True), (torch.ones(2), False), (-torch.ones(2), True)]
""",
    "chained comparisons (P4)": """
import torch

def entry(x: torch.Tensor):
    y = x * 1
    if 0 < x.max() <= 3:
        y = y + 1
    if not -1 < x.min() < 5:
        y = y - 2
    return y

def make():
    return entry, [(torch.full((2,), v),) for v in (0.0, 2.0, 9.0, -3.0)]
""",
    "any and all of a list (P4)": """
import torch

def entry(xs: list[torch.Tensor], flag: bool):
    y = xs[0] * 1
    if any([torch.isnan(x).any() for x in xs]):
        y = y.nan_to_num()
    if all([y.max() > 1, flag, (y > 0).all()]):
        y = y / 2
    return y

def make():
    one, nan = torch.full((2,), 3.0), torch.tensor([1.0, float("nan")])
    return entry, [([one, one], True), ([one, nan], True), ([nan, one], False)]
""",
    "truth of a number with NaN, and of one element (P2, P3)": """
import torch

def entry(x: torch.Tensor):
    y = x * 1
    if x[:1, :1]:
        y = y + 1
    return y

def make():
    return entry, [(torch.full((1, 2), v),) for v in (0.0, -0.0, 2.0, float("nan"))]
""",
    "attributes and buffers (W8)": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("level", torch.zeros(2))
        self.last = torch.zeros(2)

    def forward(self, x):
        y = x * 2
        if x.max() > 1:
            self.level = self.level + y
            self.last = y
        else:
            self.last = -y
        return y + self.level

def make():
    return Net(), [(torch.ones(2),), (torch.full((2,), 3.0),), (torch.ones(2),)]
""",
    "a buffer that is registered anew, aliased (W8)": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(2), persistent=False)
        self.original = self.scale

    def forward(self, x):
        if x.max() > 1:
            self.register_buffer("scale", self.original * 3, persistent=False)
        else:
            self.register_buffer("scale", self.original, persistent=False)
        return x * self.scale

def make():
    one, three = torch.ones(2), torch.full((2,), 3.0)
    return Net(), [(one,), (three,), (three,), (one,)]
""",
    "in place without gradients, behind an early return (W8)": """
import torch
from torch import nn

class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    @torch.no_grad()
    def update(self, hits):
        if not hits.any():
            return
        self.count.mul_(0.5)
        self.count.add_(hits)

    def forward(self, x):
        self.update((x > 1).float())
        return x + self.count

def make():
    return Counter(), [(torch.ones(2),), (torch.tensor([1.0, 3.0]),), (torch.ones(2),)]
""",
    "a guard and a print on one side (D5, W6)": """
import torch

def entry(x):
    y = x * 1
    if x.sum() > 0:
        if x.max() > 5:
            raise ValueError(f"too large: {x.max().item()}")
        print("positive")
        y = y + 1
    return y * 2

def make():
    return entry, [(torch.tensor([v, 0.0]),) for v in (1.0, 9.0, -1.0)]
""",
    "a helper that branches (W11)": """
import torch

def limited(h):
    if torch.isinf(h).any():
        h = h.clamp(-10, 10)
    return h

def entry(x):
    return limited(x * 2) + limited(x + 1)

def make():
    return entry, [(torch.ones(2),), (torch.tensor([1.0, float("inf")]),)]
""",
    "inside with statements (W12)": """
import torch

def entry(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x
        if y.max() > 3:
            y = y @ x
        z = y @ x
    return z

def make():
    return entry, [(torch.eye(2),), (torch.full((2, 2), 3.0),)]
""",
}


@pytest.mark.parametrize("name", named(CAPTURED, "legal"))
def test_both_sides_behave_alike(name: str, tmp_path: Path) -> None:
    assert_mends(CAPTURED[name], tmp_path)


GRADIENTS = {
    "a side whose derivative is NaN when it is not taken (W4)": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, x):
        z = x * self.w
        if (z > 0).all():
            y = torch.sqrt(z) + torch.log(z)
        else:
            y = z * 2
        return y.sum()

def make():
    return Net(), [(torch.ones(2),), (-torch.ones(2),), (torch.zeros(2),)]
""",
    "0 times infinity on the side that is not taken (W5)": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, x):
        z = self.w + 0
        if torch.isfinite(x).all():
            y = z * x
        else:
            y = z * 2
        return y.sum()

def make():
    return Net(), [(torch.ones(2),), (torch.tensor([1.0, float("inf")]),)]
""",
    "an early return in training (W4)": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        h = self.linear(x)
        if h.mean() > 0:
            return h.exp().sum()
        return (h / h.abs().max()).sum()

def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(1, 2),), (-torch.ones(1, 2) * 3,)]
""",
}


@pytest.mark.parametrize("name", named(GRADIENTS, "legal"))
def test_gradients_are_those_of_the_original(name: str, tmp_path: Path) -> None:
    assert_mends(GRADIENTS[name], tmp_path, gradients=True)


FALLS_BACK = {
    "the argument itself is returned by a helper (W9)": """
import torch

def inner(x):
    if x.max() > 1:
        x = x / 2
    return x

def entry(x):
    y = inner(x)
    y.add_(1)
    return y

def make():
    return entry, [(torch.ones(2),), (torch.full((2,), 3.0),)]
""",
    "other shapes, dtypes and strides (W1)": """
import torch

def entry(x, other):
    y = x * 1
    if x.max() > 1:
        y = other + 1
    return y

def make():
    one, three = torch.ones(2), torch.full((2,), 3.0)
    others = [torch.ones(1), torch.ones(2, dtype=torch.float64), torch.ones(4)[::2]]
    return entry, [(x, other) for x in (one, three) for other in others]
""",
    "a parameter that one side alone uses (W13)": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(2))
        self.b = nn.Parameter(torch.ones(2))

    def forward(self, x):
        if x.max() > 1:
            y = x * self.a
        else:
            y = x * self.b
        return y.sum()

def make():
    return Net(), [(torch.ones(2),), (torch.full((2,), 3.0),)]
""",
    "a predicate of many elements (P1)": """
import torch

def entry(x: torch.Tensor):
    y = x * 1
    if x > 1:
        y = y + 1
    return y

def make():
    return entry, [(torch.ones(2),), (torch.ones(1),), (torch.ones(0),)]
""",
}


@pytest.mark.parametrize("name", named(FALLS_BACK, "refused"))
def test_where_it_cannot_be_shown_the_branch_stays(name: str, tmp_path: Path) -> None:
    assert_mends(FALLS_BACK[name], tmp_path, gradients="W13" in name, fullgraph=False)


def test_text_of_the_sides_stays_in_place(tmp_path: Path) -> None:
    text = '''\
import torch


def entry(x):
    y = x * 1
    if (y.sum() > 3  # a lot
            ):
        # shrink
        y = y / 2  # by half
    else: y = y * 2
    # then on
    if y.sum() > 1:
        return f"""
    {y.shape}""", y

    note = """
kept
"""
    return note + f"{y.shape}", y - 1
'''
    assert mended(text, tmp_path).source == text  # texts differ, and a comment is in the test
    text = (
        text.replace("  # a lot\n            ", "")
        .replace("note + f", "f")
        .replace('f"""\n    {y.shape}"""', '"""\n    a"""')
        .replace('f"{y.shape}"', '"""\n    a"""')
    )
    source = mended(text, tmp_path).source
    assert (
        source
        == '''\
import torch
from graphmend.runtime import select


def entry(x):
    y = x * 1

    def then(y):
        # shrink
        y = y / 2  # by half
        return y

    def otherwise(y):
        y = y * 2
        return y

    y = select(y.sum() > 3, then, otherwise, y)

    # then on
    def then_2(y):
        return """
    a""", y

    def otherwise_2(y):
        note = """
kept
"""
        return """
    a""", y - 1

    return select(y.sum() > 1, then_2, otherwise_2, y)
'''
    )
