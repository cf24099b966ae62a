"""Small programs with guards that can be asserted in the graph, among what may forbid it."""

from __future__ import annotations

import random
from collections.abc import Callable

_HEAD = """
import torch
from torch import nn

class Bad(ValueError):
    pass

"""
_TAIL = """
def make():
    torch.manual_seed(0)
    base = torch.linspace(-1.0, 1.0, 6).view(3, 2)
    ids = torch.tensor([0, 2, 1])
    nan = base.clone()
    nan[1, 0] = float("nan")
    return Net(), [(base, ids), (base * 4, ids), (nan, ids), (base * 0, ids), (base * 99, ids)]
"""
_PREDICATES = (
    "torch.isnan(x).any()",
    "not torch.isfinite(x).all()",
    "(x > 3).any()",
    "(x == 0).all() or torch.isnan(x).any()",
    "x.ndim == 2 and (x > 200).any()",
    "not ((x < 50).all() and (x > -300).all())",
)
_ERRORS = ("ValueError", "Bad", "RuntimeError", "KeyError")
_MESSAGES = ('"plain"', '"two", 2', '"rows", x.shape[0]', 'f"{x.ndim} sizes"', "")
_COMPUTED = ("x = x * 2", "x = torch.tanh(x) * 3", "x = x.clamp(-9, 9)", "x = self.fc(x)")
# What a check in the graph may get in the way of, or has to give way to.
_OTHERS = (
    'print("before")',
    'print("sum", x.sum().item())',
    "x = x[ids]",
    "x = x.clone().add_(1)",
    "self.seen.add_(1)",
    "self.calls += 1",
    "self.notes.append(1)",
    "x = torch.nn.functional.dropout(x, 0.1)",
)


def program(seed: int) -> str:
    """The source of a module; `make()` gives its network and inputs that reach its guards."""
    rng = random.Random(seed)
    helpers = [_helper(rng, f"helper_{i}") for i in range(3)]
    lines = [_line(rng) for _ in range(rng.randint(3, 7))]
    body = "".join(f"        {line}\n" for line in lines)
    return f"{_HEAD}{''.join(helpers)}{_NET}{body}        return x\n{_TAIL}"


_NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.register_buffer("seen", torch.zeros(2))
        self.calls = 0
        self.notes = []

    def forward(self, x: torch.Tensor, ids: torch.Tensor):
"""


def _helper(rng: random.Random, name: str) -> str:
    guards = "".join(_guard(rng) for _ in range(rng.randint(1, 2)))
    return f"def {name}(x: torch.Tensor):\n{guards}    return {rng.choice(['x + 1', 'x'])}\n\n"


def _guard(rng: random.Random) -> str:
    if rng.random() < 0.2:
        return f"    assert (x < {rng.choice([5, 70])}).all(), {rng.choice(_MESSAGES[:1])}\n"
    cause = rng.choice(["", "", " from KeyError(2)", " from None"])
    error = f"{rng.choice(_ERRORS)}({rng.choice(_MESSAGES)})"
    return f"    if {rng.choice(_PREDICATES)}:\n        raise {error}{cause}\n"


def _line(rng: random.Random) -> str:
    call = f"x = helper_{rng.randrange(3)}(x)"
    kinds: list[tuple[int, Callable[[], str]]] = [
        (5, lambda: call),
        (3, lambda: rng.choice(_COMPUTED)),
        (2, lambda: rng.choice(_OTHERS)),
        (1, lambda: f"with torch.no_grad():\n            {call}"),
        (1, lambda: f"try:\n            {call}\n        except Bad:\n            x = x * 0"),
    ]
    weights, makers = zip(*kinds, strict=True)
    return rng.choices(makers, weights)[0]()
