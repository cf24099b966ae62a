"""Guards that [Trap] mends: both sides behave alike, and the text is as a maintainer expects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.semantics.lines import named
from tests.sides import assert_mends, mended

MENDED = {
    "if with a formatted message (T1, T2)": """
import torch

def entry(x):
    if torch.isnan(x).any():
        raise ValueError(f"nan among {x.shape[0]} rows, {x.dim()} dims")  # explain
    return x * 2

def make():
    return entry, [(torch.ones(3),), (torch.tensor([1.0, float("nan")]),)]
""",
    "negated, custom exception, cause (T1, T2)": """
import torch

class Bad(RuntimeError):
    def __init__(self, what, count):
        super().__init__(what, count)
        self.count = count

def entry(x):
    if not torch.isfinite(x).all():
        raise Bad("not finite", x.numel()) from KeyError("x")
    return x.sqrt()

def make():
    return entry, [(torch.ones(3),), (torch.tensor([1.0, float("inf")]),)]
""",
    "message of tensor values (T2)": """
import torch

def entry(x):
    if (x < 0).any():
        raise ValueError(f"smallest {x.min().item():.3f} of {x.tolist()}")
    return x.sqrt()

def make():
    return entry, [(torch.ones(3),), (torch.tensor([1.0, -2.5]),)]
""",
    "static conjunct first (P4)": """
import torch

def entry(x, strict: bool):
    if strict and (torch.isnan(x).any() or torch.isinf(x).any()):
        raise RuntimeError("not finite")
    return x + 1

def make():
    bad = torch.tensor([1.0, float("inf")])
    return entry, [(torch.ones(2), True), (bad, True), (bad, False)]
""",
    "asserts with and without a message (T1)": """
import torch

def entry(x):
    assert (x > -1).all(), f"low: {x.min().item():.2f}"
    assert (x < 1).all()
    return x * 3

def make():
    return entry, [(torch.zeros(2),), (torch.tensor([-2.0, 0.5]),), (torch.tensor([0.5, 2.0]),)]
""",
    "in a loop, first failing wins (T1, T3)": """
import torch

def entry(xs, names):
    for name, x in zip(names, xs):
        if not torch.isfinite(x).all():
            print(f"bad: {name}")
            raise RuntimeError(f"{name} is not finite")
    return [x + 1 for x in xs]

def make():
    good, bad = torch.ones(2), torch.tensor([1.0, float("nan")])
    names = ["a", "b"]
    return entry, [([good, good], names), ([good, bad], names), ([bad, bad], names)]
""",
    "before in-place writes (T5)": """
import torch

def entry(xs):
    total = torch.stack([x.sum() for x in xs]).sum()
    if torch.isnan(total):
        raise ValueError("nan total")
    for x in xs:
        x.mul_(2)
    return total

def make():
    nan = torch.tensor([float("nan")])
    return entry, [([torch.ones(2), torch.ones(3)],), ([torch.ones(2), nan],)]
""",
    "in a method called by another module (T1)": """
import torch
from torch import nn

class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.limit = 3.0

    def check(self, x):
        if (x > self.limit).any():
            raise ValueError(f"above {self.limit}")

    def forward(self, x):
        self.check(x)
        return x + 1

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x) * 2

def make():
    return Outer(), [(torch.ones(2),), (torch.full((2,), 9.0),)]
""",
    "elif": """
import torch

def entry(x, mode: str):
    if mode == "raw":
        y = x
    elif torch.isnan(x).any():
        raise ValueError("nan")
    return x * 2

def make():
    nan = torch.tensor([float("nan")])
    return entry, [(torch.ones(2), "raw"), (torch.ones(2), "x"), (nan, "raw"), (nan, "x")]
""",
    "body that prepares the message (T2)": """
import torch

def entry(boxes):
    flipped = boxes[:, 2:] <= boxes[:, :2]
    if flipped.any():
        row = torch.where(flipped.any(dim=1))[0][0]
        bad = boxes[row].tolist()
        raise ValueError(f"found {bad}")
    return boxes.mean()

def make():
    good = torch.tensor([[0.0, 0, 2, 2]])
    return entry, [(good,), (torch.tensor([[0.0, 0, 2, 2], [5, 1, 3, 4]]),)]
""",
    "more than one element is ambiguous (P1)": """
import torch

def entry(x):
    if x > 1:
        raise ValueError("large")
    return x.sum()

def make():
    return entry, [(torch.zeros(1),), (torch.zeros(2),), (torch.full((1, 1), 3.0),)]
""",
    "comprehension variables, one of them named like what it runs over": """
import torch

def entry(x):
    if not all(x.isfinite().all() for x in x.unbind(0)):
        raise ValueError(f"bad rows: {', '.join(str(r.sum()) for r in x)}")
    r = x * 2
    return r

def make():
    return entry, [(torch.ones(2, 2),), (torch.tensor([[1.0, 2.0], [float("inf"), 0.0]]),)]
""",
    "message put together step by step (T2)": """
import torch

def entry(lengths, most: int):
    if (lengths > most).any():
        over = lengths[lengths > most]
        text = f"{len(over)} of {lengths.numel()} longer than {most}"
        text += f", worst {over.max()}"
        raise ValueError(text)
    return torch.arange(most)[None, :] < lengths[:, None]

def make():
    return entry, [(torch.tensor([1, 2]), 3), (torch.tensor([1, 7]), 3)]
""",
    "truth compared by identity": """
import torch

def entry(x, mask):
    if bool(mask.all()) is False:
        raise RuntimeError("mask must be full")
    return x + mask

def make():
    full, part = torch.tensor([True, True]), torch.tensor([True, False])
    return entry, [(torch.ones(2), full), (torch.ones(2), part)]
""",
    "checks of torch's own, one behind the other (T1, T3)": """
import torch

def entry(x, p):
    torch._check(bool((x >= 0).all()), lambda: f"smallest is {x.min().item()}")
    torch._check_value(bool((p <= 1).all()), lambda: "p above one")
    torch._check_tensor_all(p >= 0, lambda: "p negative")
    return x * p

def make():
    x, p = torch.ones(3), torch.tensor([0.25, 0.5, 1.0])
    return entry, [(x, p), (x - 2, p), (x, p + 2), (x, p - 2)]
""",
    "a function inside the function checks (T1)": """
import torch

def entry(x, low: float):
    def verify(t, what):
        if (t < low).any():
            raise ValueError(f"{what} below {low}")

    verify(x, "x")
    y = x * 2
    verify(y - 1, "y")
    return y

def make():
    return entry, [(torch.ones(2), 0.0), (-torch.ones(2), 0.0), (torch.full((2,), 0.1), 0.0)]
""",
    "attributes of an object made on the way (T1)": """
from dataclasses import dataclass

import torch

@dataclass
class Batch:
    x: torch.Tensor
    y: torch.Tensor

    def validate(self):
        if (self.y < 0).any() or (self.y > 9).any():
            raise ValueError(f"labels from {self.y.min().item()} to {self.y.max().item()}")

def entry(x, y):
    batch = Batch(torch.relu(x), y)
    batch.validate()
    return batch.x * 2

def make():
    return entry, [(torch.ones(2), torch.tensor([1, 2])), (torch.ones(2), torch.tensor([1, 20]))]
""",
    "the message of a later guard indexes by data (T6)": """
import torch

def entry(boxes):
    if boxes.isnan().any():
        raise ValueError("nan")
    flipped = (boxes[:, 2:] <= boxes[:, :2]).any(dim=1)
    if flipped.any():
        row = torch.where(flipped)[0][0]
        raise ValueError(f"box {boxes[row].tolist()} is flipped")
    return boxes.mean()

def make():
    good, nan = torch.tensor([[0.0, 0, 2, 2]]), torch.tensor([[0.0, float("nan"), 2, 2]])
    return entry, [(good,), (nan,), (torch.tensor([[0.0, 0, 2, 2], [5, 1, 3, 4]]),)]
""",
    "in the wrapper of a decorator (T1)": """
import functools

import torch

def validated(function):
    @functools.wraps(function)
    def wrapper(x, *args):
        if torch.isnan(x).any():
            raise ValueError(f"{function.__name__} got nan")
        return function(x, *args)

    return wrapper

@validated
def entry(x, k: int):
    return x * k

def make():
    return entry, [(torch.ones(2), 2), (torch.tensor([float("nan"), 1.0]), 2)]
""",
    "a chain of guards on activations with history (T3)": """
import torch
from torch import nn

class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.blocks = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])

    def forward(self, x, limit: float):
        for i, block in enumerate(self.blocks):
            x = block(x)
            if not torch.isfinite(x).all():
                raise FloatingPointError(f"block {i} ({type(block).__name__})")
            elif x.abs().max() > limit:
                raise OverflowError(f"block {i}: {x.abs().max():.3f} > {limit}")
            x = torch.tanh(x)
        return x

def make():
    x = torch.ones(1, 2)
    return Trunk(), [(x, 9.0), (x * float("inf"), 9.0), (x * 1e3, 9.0)]
""",
    "a buffer in the message that is written later (T5)": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        if not x.isfinite().all():
            raise ValueError(f"not finite after {self.calls.item()} calls")
        self.calls.add_(1)
        return x / 2

class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Net()

    def forward(self, x, y):
        return self.inner(x) + self.inner(y)

def make():
    good, bad = torch.ones(2), torch.tensor([1.0, float("nan")])
    return Twice(), [(good, good), (good, bad), (bad, good)]
""",
}


@pytest.mark.parametrize("name", named(MENDED, "legal"))
def test_both_sides_behave_alike(name: str, tmp_path: Path) -> None:
    assert_mends(MENDED[name], tmp_path)


@pytest.mark.semantics("D11", "legal")
def test_gradients_stay(tmp_path: Path) -> None:
    text = """
import torch

def entry(x):
    y = torch.sqrt(x)
    if (y > 100).any():
        raise ValueError(f"{y.max().item()}")
    return (y + x).sum()

def make():
    return entry, [(torch.tensor([0.0, 4.0], requires_grad=True),)]
"""
    assert_mends(text, tmp_path, gradients=True)


def test_the_text_is_what_a_maintainer_would_write(tmp_path: Path) -> None:
    text = '''"""Boxes."""

import torch


# The loss.
class Loss(torch.nn.Module):
    def forward(self, pred, boxes):
        if self.training and (boxes < 0).any():  # never on the card
            # the count helps
            raise ValueError(f"boxes must be positive; {len(boxes)} given")
        return (pred - boxes).abs().mean()
'''
    after = '''"""Boxes."""

import torch
from graphmend.runtime import deferred_check


@deferred_check
def _forward_check(condition, boxes):
    if condition:  # never on the card
        # the count helps
        raise ValueError(f"boxes must be positive; {len(boxes)} given")


# The loss.
class Loss(torch.nn.Module):
    def forward(self, pred, boxes):
        if self.training:
            _forward_check((boxes < 0).any(), boxes)
        return (pred - boxes).abs().mean()
'''
    assert mended(text, tmp_path).source.replace("boxes_any", "condition") == after


def test_a_helper_that_answers_is_called_as_a_check(tmp_path: Path) -> None:
    text = """
import torch

def verify(condition, message, raises=True):
    if not condition:
        if not raises:
            return False
        raise ArithmeticError(message)
    return True

def entry(x, y):
    verify((x > 0).all(), "x")
    verify(bool((y > 0).all()), message="y")
    return x / y
"""
    result = mended(text, tmp_path)
    fixed = [f.line for f in result.findings if f.status == "fixed"]
    assert fixed == [12, 13], result.findings
    assert "_entry_check((x > 0).all())" in result.source
    assert mended(result.source, tmp_path).source == result.source


def test_long_calls_and_broken_lines_are_laid_out(tmp_path: Path) -> None:
    text = """
import torch


def entry(x, number_of_things, another_number_of_things, name_of_the_whole_thing):
    y = torch.tanh(x)
    if (y > number_of_things).any():
        raise ValueError(
            f"{number_of_things} {another_number_of_things} {name_of_the_whole_thing}"
        )
    if list(y.size()) == [
        number_of_things,
        another_number_of_things,
    ] or (y > 2).all():
        raise ValueError("size")
    return y
"""
    after = """
import torch
from graphmend.runtime import deferred_check


@deferred_check
def _entry_check(
    y_any,
    number_of_things,
    another_number_of_things,
    name_of_the_whole_thing,
):
    if y_any:
        raise ValueError(
            f"{number_of_things} {another_number_of_things} {name_of_the_whole_thing}"
        )


@deferred_check
def _entry_check_2(condition, y_all):
    if condition or y_all:
        raise ValueError("size")


def entry(x, number_of_things, another_number_of_things, name_of_the_whole_thing):
    y = torch.tanh(x)
    _entry_check(
        (y > number_of_things).any(),
        number_of_things,
        another_number_of_things,
        name_of_the_whole_thing,
    )
    _entry_check_2(
        list(y.size()) == [number_of_things, another_number_of_things,],
        (y > 2).all(),
    )
    return y
"""
    assert mended(text, tmp_path).source == after
