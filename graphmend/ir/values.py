"""Which functions, classes and instances an expression may stand for.

A small abstract interpreter over the syntax tree: order-free inside a function, through
assignments, `self` attributes, containers, calls of known functions, and imports. An answer that
holds `UNKNOWN` is a part of the truth, one without it the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from graphmend.ir.module import ClassInfo, Function, Module


@dataclass(frozen=True)
class Unknown:
    """Something that could not be worked out."""


@dataclass(frozen=True)
class FunctionValue:
    """A function of a parsed module; `receiver` is the class it is bound to an instance of."""

    function: Function
    receiver: ClassInfo | None = None


@dataclass(frozen=True)
class ClassValue:
    """A class of a parsed module."""

    info: ClassInfo


@dataclass(frozen=True)
class Instance:
    """An object of a parsed class; of just that class if `exact`, else possibly of a subclass."""

    info: ClassInfo
    exact: bool = True


@dataclass(frozen=True)
class Super:
    """`super()` in the class `after`, for an instance of `info`."""

    info: ClassInfo
    after: ClassInfo


@dataclass(frozen=True)
class Many:
    """A container (list, tuple, dict values, ModuleList) of these values."""

    elements: frozenset[Val]
    sequential: bool = False


@dataclass(frozen=True)
class External:
    """An object outside the project, by its dotted name: `torch.where`, `builtins.print`."""

    name: str


@dataclass(frozen=True)
class ExternalInstance:
    """An object of a class outside the project; `origin` is the module whose function made it."""

    name: str
    origin: Module | None = field(default=None, compare=False)


Val = Unknown | FunctionValue | ClassValue | Instance | Super | Many | External | ExternalInstance
Vals = frozenset[Val]

UNKNOWN = Unknown()
ANYTHING: Vals = frozenset({UNKNOWN})
NOTHING: Vals = frozenset()


def is_open(values: Vals) -> bool:
    """Whether something unknown is among the values or inside them."""
    return any(v == UNKNOWN or (isinstance(v, Many) and is_open(v.elements)) for v in values)


def elements(values: Vals) -> Vals:
    """The elements of the containers among `values`."""
    found: set[Val] = set()
    for value in values:
        found |= value.elements if isinstance(value, Many) else ANYTHING
    return frozenset(found)
