"""Small programs with guards and output, put together at random from what real code does."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

_HEAD = """
import logging
import warnings
from contextlib import suppress

import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger("program")
LIMIT = 3.0


class Bad(ValueError):
    def __init__(self, what, code=1):
        super().__init__(what, code)
        self.code = code


def require(flag, text="not met"):
    if not flag:
        raise Bad(text)


def finite(x, name):
    if not torch.isfinite(x).all():
        logger.error("%s is not finite", name)
        raise RuntimeError(f"{name}: {x.shape[0]} rows not finite")
    return x

"""
_MAKE = """

def make():
    torch.manual_seed(0)
    base = torch.linspace(-1.0, 1.0, 6).view(3, 2)
    ids = torch.tensor([0, 2, 1])
    nan = base.clone()
    nan[1, 0] = float("nan")
    net = Net()
    return net, [
        (base.clone(), ids, True),
        (base * 4, ids + 9, False),
        (nan, ids, True),
        (base * 0, ids, False),
    ]
"""


@dataclass
class _Writer:
    """Writes one function body; `tensors` are the names that hold float tensors."""

    rng: random.Random
    tensors: list[str]
    owner: bool
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    count: int = 0

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
                f"torch.isnan({x}).any()",
                f"not torch.isfinite({x}).all()",
                f"({x} > LIMIT).any()",
                f"{x}.abs().max() > LIMIT",
                f"strict and ({x}.abs() > 2).any()",
                f"({x} == 0).all() or torch.isnan({x}).any()",
                f"({x} > 2).any().item()",
                f"{x}.sum() != {x}.sum()",
                f"strict and not ({x}.mean() < 1 and {x}.min() > -5)",
            ]
        )

    def message(self) -> str:
        x = self.tensor()
        return self.rng.choice(
            [
                '"plain"',
                f'f"rows {{{x}.shape[0]}}"',
                f'f"max {{{x}.max().item():.3f}} of {{{x}.numel()}}"',
                f'f"first {{{x}[0].tolist()}}"',
                f'"mean %.2f" % {x}.mean().item()',
                f'"{{}} and {{}}".format(strict, {x}.dtype)',
            ]
        )

    def guard(self) -> None:
        kind = self.rng.choice(["if", "if", "assert", "helper", "log", "check", "elif"])
        if kind == "if":
            self.line(f"if {self.predicate()}:")
            cause = self.rng.choice(["", "", " from KeyError(2)", " from None"])
            error = self.rng.choice(["ValueError", "Bad", "RuntimeError"])
            self.line(f"    raise {error}({self.message()}){cause}")
        elif kind == "assert":
            self.line(f"assert {self.tensor()}.abs().max() < 50, {self.message()}")
        elif kind == "helper":
            self.line(f"finite({self.tensor()}, 'value')")
        elif kind == "log":
            self.line(f"if {self.predicate()}:")
            self.line(f"    print({self.message()})")
            self.line(f"    raise Bad({self.message()}, code=2)")
        elif kind == "check":
            self.line(f"require(({self.tensor()} < 90).all(), {self.message()})")
        else:
            self.line("if strict:")
            self.line("    pass")
            self.line(f"elif {self.predicate()}:")
            self.line(f"    raise ValueError({self.message()})")

    def output(self) -> None:
        x = self.tensor()
        self.line(
            self.rng.choice(
                [
                    f"print('value', {x}.mean().item(), {x}.shape)",
                    f"print(f'{{{x}.sum().item():.4f}} {{strict=}}')",
                    "logger.info('step %d strict %s', len(items), strict)",
                    f"logger.warning('max %.3f', {x}.max().item())",
                    f"warnings.warn(f'norm {{{x}.norm().item():.3f}}')",
                    f"print('all', {x}.detach())",
                    "print(items)",
                    f"if {self.predicate()}: logger.debug('seen')",
                ]
            )
        )

    def compute(self) -> None:
        x, y, new = self.tensor(), self.tensor(), self.fresh()
        choices = [
            f"{new} = {x} * 2 + {y}",
            f"{new} = torch.tanh({x})",
            f"{new} = {x}.clamp(-9, 9) - {y}.mean()",
            f"{new} = torch.where({x} > 0, {x}, {y})",
            f"{new} = F.relu({x}) + LIMIT",
        ]
        if self.owner:
            choices.append(f"{new} = self.fc({x})")
        self.line(self.rng.choice(choices))
        self.tensors.append(new)

    def write(self) -> None:
        choices = ["x.add_(1)", "x[0] = 0.5", "items.append(len(items))", "x *= 1.5"]
        if self.owner:
            choices += ["self.seen.add_(1)", "self.calls += 1", "self.last = strict"]
        self.line(self.rng.choice(choices))

    def lookup(self) -> None:
        new = self.fresh()
        self.line(
            self.rng.choice(
                [
                    f"{new} = F.embedding(ids, torch.ones(5, 2))",
                    f"{new} = x[ids.clamp(0, 2)]",
                    f"{new} = torch.ones(4, 2)[ids]",
                ]
            )
        )
        self.tensors.append(new)

    def block(self) -> None:
        head = self.rng.choice(
            [
                "if strict:",
                "if not strict and x.dim() == 2:",
                "for i in range(2):",
                "with torch.no_grad():",
                "try:",
                "with suppress(RuntimeError):",
            ]
        )
        known = list(self.tensors)
        self.line(head)
        self.depth += 1
        for _ in range(self.rng.randint(1, 3)):
            self.rng.choice([self.guard, self.output, self.compute, self.write])()
        self.depth -= 1
        if head == "try:":
            caught = self.rng.choice(["ValueError", "(RuntimeError, AssertionError)", "KeyError"])
            self.line(f"except {caught}:")
            self.line("    x = x.nan_to_num()")
        self.tensors[:] = known

    def body(self, size: int) -> None:
        for _ in range(size):
            self.rng.choices(
                [self.guard, self.output, self.compute, self.write, self.lookup, self.block],
                [4, 4, 4, 2, 1, 2],
            )[0]()
        self.line(f"return {' + '.join(sorted(set(self.tensors[:1] + self.tensors[-2:])))}")


def program(seed: int) -> str:
    """The source of a module; `make()` gives its network and inputs that reach both sides."""
    rng = random.Random(seed)
    helper = _Writer(rng, ["x"], owner=False)
    helper.body(rng.randint(1, 4))
    forward = _Writer(rng, ["x"], owner=True, depth=2)
    forward.line("items = [1]")
    if rng.random() < 0.7:
        forward.line("x = helper(x, ids, strict, items)")
    forward.body(rng.randint(3, 7))
    return "\n".join(
        [
            _HEAD,
            "def helper(x, ids, strict, items):",
            *helper.lines,
            "",
            "",
            "class Net(nn.Module):",
            "    def __init__(self):",
            "        super().__init__()",
            "        self.fc = nn.Linear(2, 2)",
            '        self.register_buffer("seen", torch.zeros(2))',
            "        self.calls = 0",
            "        self.last = None",
            "",
            "    def forward(self, x, ids, strict: bool):",
            *forward.lines,
            _MAKE,
        ]
    )
