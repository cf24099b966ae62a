"""What running a piece of code may do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from graphmend.analyses.roots import Root


@dataclass(frozen=True, slots=True)
class Write:
    """A write to memory of `root`: a tensor's data in place, or else the state of an object."""

    root: Root
    tensor: bool

    @property
    def outside(self) -> bool:
        """Whether code outside the function can see it."""
        return self.root.outside


@dataclass(frozen=True, slots=True)
class EffectSet:
    """Effects of an expression, a statement's header, or a call of a function.

    `may_raise`: for reasons of Python alone (a missing attribute or key, an unbound name, wrong
    types); `raises`: by a raise or assert statement. `reads_data`: takes tensor data into Python.
    `impure`: the result depends on more than the arguments, or the process is changed.
    `unknown`: calls that could not be followed, as written.
    """

    writes: frozenset[Write] = frozenset()
    unknown: frozenset[str] = frozenset()
    may_raise: bool = False
    may_raise_data: bool = False
    may_raise_shape: bool = False
    raises: bool = False
    random: bool = False
    logs: bool = False
    impure: bool = False
    reads_data: bool = False
    dynamic_shape: bool = False

    @property
    def pure(self) -> bool:
        """Whether nothing happens but that a value is made (or an exception raised)."""
        changes = self.writes or self.unknown or self.random or self.logs or self.impure
        return not changes

    @property
    def cannot_raise(self) -> bool:
        """Whether it surely comes to its end."""
        failures = (self.may_raise, self.may_raise_data, self.may_raise_shape, self.raises)
        return not any(failures) and not self.unknown

    def __or__(self, other: EffectSet) -> EffectSet:
        if self == NOTHING or self == other:
            return other
        if other == NOTHING:
            return self
        return EffectSet(*(getattr(self, n) | getattr(other, n) for n in _FIELDS))


_FIELDS = tuple(field.name for field in fields(EffectSet))
NOTHING = EffectSet()
MAY_RAISE = EffectSet(may_raise=True)
SHAPE = EffectSet(may_raise_shape=True)
DATA = EffectSet(may_raise_data=True)
LOGS = EffectSet(logs=True)
IMPURE = EffectSet(impure=True, may_raise=True)


def union(parts: Iterable[EffectSet]) -> EffectSet:
    """Everything that one of the parts may do."""
    found = NOTHING
    for part in parts:
        found |= part
    return found
