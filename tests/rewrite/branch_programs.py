"""Small programs that branch on tensor data, put together at random from what real code does."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

_HEAD = """
import torch
import torch.nn.functional as F
from torch import nn

LIMIT = 1.5


def bounded(h):
    if h.abs().max() > LIMIT:
        h = h / h.abs().max()
    return h


def halves(h):
    if h.mean() > 0:
        return h[:1], h[1:]
    return h[:1] * 2, h[1:] + 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)
        self.gain = nn.Parameter(torch.ones(2))
        self.register_buffer("seen", torch.zeros(2))
        self.register_buffer("level", torch.ones(2), persistent=False)
        self.first = self.level
        self.last = torch.zeros(2)
        self.calls = 0

    @torch.no_grad()
    def record(self, h):
        hits = h.detach().abs().amax(0)
        if not (hits > 1).any():
            return
        self.seen.add_(hits)
        if hits.max() > LIMIT:
            self.seen.mul_(0.5)

    def relevel(self, h):
        if h.detach().max() > LIMIT:
            self.register_buffer("level", self.first * 2, persistent=False)
        else:
            self.register_buffer("level", self.first, persistent=False)

"""
_MAKE = """

def make():
    torch.manual_seed(0)
    base = torch.linspace(-1.0, 1.0, 6).view(3, 2)
    nan = base.clone()
    nan[1, 0] = float("nan")
    inputs = [base, base * 4, nan, base * 0, -base.abs()]
    if torch.is_grad_enabled():
        inputs = [x.detach().requires_grad_() for x in inputs]
    return Net(), list(zip(inputs, [True, False, True, False, True]))
"""


@dataclass
class _Writer:
    """Writes one function body; `tensors` are the names that hold (3, 2) float tensors."""

    rng: random.Random
    tensors: list[str]
    lines: list[str] = field(default_factory=list)
    depth: int = 2
    count: int = 0
    returns: bool = True

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def tensor(self) -> str:
        return self.rng.choice(self.tensors)

    def fresh(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def predicate(self) -> str:
        x = self.tensor()
        return self.rng.choice(
            [
                f"{x}.sum() > 0",
                f"({x} > LIMIT).any()",
                f"not torch.isfinite({x}).all()",
                f"({x} > 1).any() or torch.isnan({x}).any()",
                f"flag and {x}.mean() > 0",
                f"{x}.dtype == torch.float32 and not (({x} > 2).any() and flag)",
                f"0 < {x}.max() < 3",
                f"{x}.max()",
                f"(top := {x}.max()) > 1",
            ]
        )

    def value(self) -> str:
        """An expression of shape (3, 2), harmless or not."""
        x, y = self.tensor(), self.tensor()
        return self.rng.choice(
            [
                f"{x} * 2 + {y}",
                f"{x} - {y}",
                f"torch.sqrt({x})",
                f"torch.log({x}.abs())",
                f"{x} / {y}",
                f"{x} / {x}.sum()",
                f"{x}.clamp(-1, 1)",
                f"{x} * self.gain",
                f"self.fc({x})",
                f"F.softmax({x}, dim=-1)",
                f"{x}",
                f"{x}.t().t()",
                f"torch.where({x} > 0, {x}, {y})",
                f"{x}.float() if {self.predicate()} else {y} + 1",
                f"bounded({x})",
                f"torch.cat(halves({x}))",
                f"F.dropout({x}, 0.5)",
                f"{x}.flip(0)",
                f"{x} ** 2",
            ]
        )

    def assign(self) -> None:
        value = self.value()
        new = self.fresh() if self.rng.random() < 0.5 else self.tensor()
        self.line(f"{new} = {value}")
        if new not in self.tensors:
            self.tensors.append(new)

    def write(self) -> None:
        x = self.tensor()
        self.line(
            self.rng.choice(
                [
                    f"self.last = {x}.detach().mean(0)",
                    f"self.record({x})",
                    f"self.relevel({x})",
                    f"{x} = {x} + self.level + self.last",
                    "self.calls += 1",
                    f"print('mean', {x}.detach().mean().item())",
                    "print('here')",
                ]
            )
        )

    def guard(self) -> None:
        x = self.tensor()
        self.line(f"if ({x} > 9).any():")
        self.line(f"    raise ValueError(f'large: {{{x}.max().item()}}')")

    def number(self) -> None:
        new = self.fresh()
        left, right = self.rng.choice([("1.0", "255.0"), ("2", "0.1"), ("1", "3"), ("None", "0.5")])
        if self.rng.random() < 0.5:
            self.line(f"k = {left} if {self.predicate()} else {right}")
        else:
            self.line(f"k = {left}")
            self.line(f"if {self.predicate()}:")
            self.line(f"    k = {right}")
        x = self.tensor()
        self.line(f"{new} = {x} * 2 if k is None else {x} / k")
        self.tensors.append(new)

    def branch(self) -> None:
        known = list(self.tensors)
        target = self.rng.choice([*known, self.fresh()])
        arms = self.rng.choice([1, 2, 2, 3])
        for arm in range(arms):
            last = arm == arms - 1 and arms > 1
            self.line("else:" if last else f"{'el' if arm else ''}if {self.predicate()}:")
            self.depth += 1
            for _ in range(self.rng.choice([0, 0, 1, 2])):
                self.step()
            self.line(f"{target} = {self.value()}")
            self.depth -= 1
            self.tensors[:] = known
        if arms > 1 and target not in known:
            self.tensors.append(target)

    def leave(self) -> None:
        self.line(f"if {self.predicate()}:")
        self.line(f"    return {self.value()}")

    def block(self) -> None:
        known, returns = list(self.tensors), self.returns
        self.line(self.rng.choice(["if flag:", "for i in range(2):", "with torch.no_grad():"]))
        self.returns = False
        self.depth += 1
        for _ in range(self.rng.randint(1, 2)):
            self.step()
        self.depth -= 1
        self.tensors[:], self.returns = known, returns

    def step(self) -> None:
        steps = [self.assign, self.branch, self.write, self.number, self.guard, self.block]
        weights = [4, 5 if self.depth < 5 else 0, 2, 1, 1, 1 if self.depth < 4 else 0]
        if self.returns and self.depth == 2:
            steps.append(self.leave)
            weights.append(1)
        self.rng.choices(steps, weights)[0]()

    def body(self, size: int) -> None:
        for _ in range(size):
            self.step()
        self.line(f"return {self.tensor()} + {self.tensor()}")


def branch_program(seed: int) -> str:
    """The source of a module; `make()` gives its network and inputs that reach both sides."""
    rng = random.Random(seed)
    forward = _Writer(rng, ["h"])
    forward.line(rng.choice(["h = x * 1", "h = self.fc(x)", "h = x"]))
    forward.body(rng.randint(1, 5))
    head = "    def forward(self, x: torch.Tensor, flag: bool):"
    return "\n".join([_HEAD.rstrip("\n"), "", head, *forward.lines, _MAKE])
