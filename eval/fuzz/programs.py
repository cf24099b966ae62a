"""The strategy: whole programs, and how each is to be run."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from eval.fuzz import inputs, statements, values
from eval.fuzz.pen import Lines, Names, Pen, indent


@dataclass(frozen=True, slots=True)
class Arms:
    """How a program is mended and run.

    `gradients` is "none", "parameters" or "inputs" (and parameters); `trap` and `plain` are options
    of the fix.
    """

    gradients: str = "none"
    training: bool = False
    backend: str = "eager"
    rounds: int = 1
    thread: bool = False
    checkpoint: bool = False
    trap: str = "deferred"
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """A module's source, whose `make()` gives a network and its inputs, and how to run it."""

    text: str
    arms: Arms


@st.composite
def programs(draw: DrawFn) -> Program:
    """Programs with break sites, few or many, and inputs that reach both sides of them."""
    pen = Pen(draw, Names(["x"], has_ids=True, has_mask=True, owner=True))
    arms = _arms(pen)
    pen.leaves = arms.gradients == "inputs"
    pen.names.has_ids, pen.names.has_mask = pen.chance(15), pen.chance(15)
    start = pen.weighted((3, "h = x * 1"), (2, "h = self.fc(x.float())"), (2, ""))
    if start:
        pen.names.matrices.append("h")
    lines = [*([start] if start else []), *statements.body(pen, 3), *_result(pen)]
    used = {"flag"} | {name for name in ("ids", "mask") if _mentions(name, lines)}
    ordered = [name for name in ("ids", "mask", "flag") if name in used]
    annotation = ": torch.Tensor" if pen.chance(60) else ""
    head = f"def forward(self, x{annotation}, {', '.join(ordered)}):"
    # AOTAutograd drops operators whose result nobody reads, also those that would fail.
    may_fail = arms.backend == "eager"
    tuples = inputs.arguments(pen, used, pen.leaves, may_fail)
    return Program(_render(pen, [head, *indent(lines)], tuples), arms)


def _arms(pen: Pen) -> Arms:
    return Arms(
        gradients=pen.weighted((5, "none"), (2, "parameters"), (4, "inputs")),
        training=pen.chance(25),
        backend=pen.weighted((3, "eager"), (1, "aot_eager")),
        rounds=pen.weighted((4, 1), (1, 2)),
        thread=pen.chance(5),
        checkpoint=pen.chance(4),
        trap=pen.weighted((9, "deferred"), (1, "async")),
        plain=pen.chance(5),
    )


def _result(pen: Pen) -> Lines:
    x, y = values.name(pen), values.name(pen)
    kind = pen.weighted((5, "sum"), (2, "name"), (2, "tuple"), (1, "dict"), (1, "data"))
    if kind == "name":
        return [f"return {x}"]
    if kind == "tuple":
        return [f"return {x}, ({y}, None)"]
    if kind == "dict":
        return [f"return {{'first': {x}, 'second': {y} * 2}}"]
    if kind == "data":
        return [f"return Output({x}, {x}.sum())"]
    return [f"return {x} + {y}"]


def _mentions(name: str, lines: Lines) -> bool:
    return any(re.search(rf"\b{name}\b", line) for line in lines)


_IMPORTS = {
    "functools": "import functools",
    "logging": "import logging",
    "warnings": "import warnings",
    "suppress": "from contextlib import suppress",
    "dataclass": "from dataclasses import dataclass",
    "torch": "\nimport torch",
    "F": "import torch.nn.functional as F",
    "nn": "from torch import nn",
}
_PREPARED = {
    "logger": ["logger = logging.getLogger(__name__)"],
    "LIMIT": ["LIMIT = 1.5"],
    "nan": ['nan = float("nan")'],
    "inf": ['inf = float("inf")'],
    "Bad": [
        "class Bad(ValueError):",
        "    def __init__(self, what, code=1):",
        "        super().__init__(what, code)",
    ],
    "require": [
        'def require(flag, text="not met"):',
        "    if not flag:",
        "        raise ValueError(text)",
    ],
    "finite": [
        "def finite(h, name):",
        "    if not torch.isfinite(h).all():",
        '        raise RuntimeError(f"{name}: {h.shape[0]} rows not finite")',
    ],
    "warn_once": [
        "@functools.lru_cache(None)",
        "def warn_once(text):",
        "    warnings.warn(text)",
    ],
    "Output": ["@dataclass", "class Output:", "    first: torch.Tensor", "    second: object"],
}
_ATTRIBUTES = {
    "fc": ["self.fc = nn.Linear(2, 2)"],
    "norm": ["self.norm = nn.LayerNorm(2)"],
    "gain": ["self.gain = nn.Parameter(torch.ones(2))"],
    "seen": ['self.register_buffer("seen", torch.zeros(2))'],
    "level": ['self.register_buffer("level", torch.ones(2), persistent=False)'],
    "first": ["self.first = self.level"],
    "last": ["self.last = torch.zeros(2)"],
    "calls": ["self.calls = 0"],
    "notes": ["self.notes = []"],
    "strict": ["self.strict = True"],
}


def _render(pen: Pen, forward: Lines, tuples: Lines) -> str:
    methods = [line for lines in (*pen.methods.values(), forward) for line in ["", *lines]]
    network = ["class Net(nn.Module):", *indent(_constructor(pen, methods)), *indent(methods)]
    make = ["def make():", *indent(["return Net(), [", *indent(tuples)])]
    own = [*pen.definitions.values(), network, [*make, "    ]"]]
    text = "\n".join(line for lines in own for line in lines)
    prepared = [lines for name, lines in _PREPARED.items() if re.search(rf"\b{name}\b", text)]
    everything = "\n\n\n".join("\n".join(line.rstrip() for line in part) for part in prepared + own)
    imports = [line for name, line in _IMPORTS.items() if re.search(rf"\b{name}\b", everything)]
    return "\n".join(imports).lstrip() + "\n\n\n" + everything + "\n"


def _constructor(pen: Pen, methods: Lines) -> Lines:
    text = "\n".join(methods)
    wanted = {name for name in _ATTRIBUTES if re.search(rf"\bself\.{name}\b|'{name}'", text)}
    wanted |= {"level"} if "first" in wanted else set()
    lines = [line for name, made in _ATTRIBUTES.items() if name in wanted for line in made]
    lines += [f"self.{new.lower()} = {new}()" for new in pen.definitions if new.startswith("Part")]
    return ["def __init__(self):", *indent(["super().__init__()", *lines])]
