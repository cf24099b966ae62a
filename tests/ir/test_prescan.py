"""The prescan never misses a construct that can break a graph."""

from __future__ import annotations

import pytest

from graphmend.ir.prescan import has_candidates, mentions_torch

CANDIDATES = [
    "if x: a",
    "return a if x else b",
    "while x: a",
    "return a and b",
    "return not a",
    "return a < b < c",
    "return a in b",
    "assert a",
    "raise a",
    "print(a)",
    "logger.info(a)",
    "return x.item()",
    "return x[mask]",
    "x[i] = 1",
    "return f'{x}'",
    "return [a for a in b if a]",
    "match a:\n    case 1: b",
    "return lambda: (yield x.item())",
]


@pytest.mark.parametrize("body", CANDIDATES)
def test_candidates(body: str) -> None:
    assert has_candidates(f"def f(x):\n  {body}\n")
    assert not has_candidates("def f(x): return x\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1\n",
        "import torch\nif x: print(1)\nassert y\n",
        "class C(B):\n  def __init__(self, a=1):\n    super().__init__()\n    self.a = a\n",
        "def f(x, y): return x + y * 2\n",
    ],
)
def test_no_candidates(text: str) -> None:
    assert not has_candidates(text)


@pytest.mark.parametrize(
    "text", ["def f(:\n", "hello world, no Python", "x = '\0'", "lambda: g(1)"]
)
def test_in_doubt_it_is_one(text: str) -> None:
    assert has_candidates(text)


def test_mentions_torch() -> None:
    assert mentions_torch("import torch") and mentions_torch("from . import nn")
    assert not mentions_torch("def check(x): raise ValueError(connected)")
