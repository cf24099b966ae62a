"""Guards that [Trap] mends: both sides behave alike, and the text is as a maintainer expects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sides import assert_mends, mended

MENDED = {
    "if with a formatted message": """
import torch

def entry(x):
    if torch.isnan(x).any():
        raise ValueError(f"nan among {x.shape[0]} rows, {x.dim()} dims")  # explain
    return x * 2

def make():
    return entry, [(torch.ones(3),), (torch.tensor([1.0, float("nan")]),)]
""",
    "negated, custom exception, cause": """
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
    "message of tensor values": """
import torch

def entry(x):
    if (x < 0).any():
        raise ValueError(f"smallest {x.min().item():.3f} of {x.tolist()}")
    return x.sqrt()

def make():
    return entry, [(torch.ones(3),), (torch.tensor([1.0, -2.5]),)]
""",
    "static conjunct first": """
import torch

def entry(x, strict: bool):
    if strict and (torch.isnan(x).any() or torch.isinf(x).any()):
        raise RuntimeError("not finite")
    return x + 1

def make():
    bad = torch.tensor([1.0, float("inf")])
    return entry, [(torch.ones(2), True), (bad, True), (bad, False)]
""",
    "asserts with and without a message": """
import torch

def entry(x):
    assert (x > -1).all(), f"low: {x.min().item():.2f}"
    assert (x < 1).all()
    return x * 3

def make():
    return entry, [(torch.zeros(2),), (torch.tensor([-2.0, 0.5]),), (torch.tensor([0.5, 2.0]),)]
""",
    "in a loop, first failing wins": """
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
    "in a method called by another module": """
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
    "body that prepares the message": """
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
}


@pytest.mark.parametrize("name", MENDED)
def test_both_sides_behave_alike(name: str, tmp_path: Path) -> None:
    assert_mends(MENDED[name], tmp_path)


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
