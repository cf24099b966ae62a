"""Solving for kinds that depend on each other: loops inside a function, and recursion between them.

Inside a function, definitions that loops make depend on themselves are worked out in rounds until
nothing changes. Between functions, a result that is asked for while it is being worked out counts
as no value yet; what was built on that is kept until the outermost question is answered, and then
forgotten, to be worked out afresh when asked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

from graphmend.analyses.kind import BOTTOM, UNKNOWN, Kind, join

F = TypeVar("F", bound=Hashable)

_MAX_ROUNDS = 6
_MAX_FRAMES = 120


@dataclass
class _Frame:
    """A question being worked out; `leans_on` is the lowest open frame whose result it used."""

    key: Hashable
    leans_on: int


@dataclass
class Table:
    """What is known of one function: its definitions and the expressions evaluated so far."""

    definitions: dict[Hashable, Kind] = field(default_factory=dict)
    assumed: dict[Hashable, Kind] = field(default_factory=dict)
    expressions: dict[Hashable, Kind] = field(default_factory=dict)
    open: set[Hashable] = field(default_factory=set)
    cyclic: bool = False

    def definition(self, key: Hashable, work: Callable[[], Kind]) -> Kind:
        """The kind of a definition; while it is being worked out, what the last round found."""
        if key in self.definitions:
            return self.definitions[key]
        if key in self.open:
            self.cyclic = True
            return self.assumed.get(key, BOTTOM)
        self.open.add(key)
        found = self.definitions[key] = join([self.assumed.get(key, BOTTOM), work()])
        self.open.discard(key)
        return found

    def expression(self, key: Hashable, work: Callable[[], Kind]) -> Kind:
        """The kind of an expression, or of what else is local to the function."""
        if key in self.expressions:
            return self.expressions[key]
        if key in self.open:
            self.cyclic = True
            return self.assumed.get(key, BOTTOM)
        self.open.add(key)
        found = self.expressions[key] = work()
        self.open.discard(key)
        return found

    def solve(self, sweep: Callable[[], None]) -> None:
        """Go through the function until another round changes nothing."""
        sweep()
        for _ in range(_MAX_ROUNDS):
            if not self.cyclic or self._stable():
                return
            self.assumed = {**self.definitions, **self.expressions}
            self.definitions, self.expressions = {}, {}
            sweep()
        unsettled = [k for k, v in self.definitions.items() if self.assumed.get(k) != v]
        self.definitions |= dict.fromkeys(unsettled, UNKNOWN)
        self.expressions = {}

    def _stable(self) -> bool:
        return bool(self.assumed) and all(
            self.assumed.get(key) == kind for key, kind in self.definitions.items()
        )


class Solver:
    """Tables of functions and results between functions, with the questions now open."""

    def __init__(self) -> None:
        self._tables: dict[Hashable, Table] = {}
        self._known: dict[Hashable, Kind] = {}
        self._frames: list[_Frame] = []
        self._open: dict[Hashable, int] = {}
        self._leaning: dict[Hashable, int] = {}

    def table(self, function: F, sweep: Callable[[F], None]) -> Table:
        """The table of a function, solved by `sweep` unless that is under way."""
        found = self._tables.get(function)
        if found is None:
            found = self._tables[function] = Table()
            self._within(function, lambda: found.solve(lambda: sweep(function)))
        elif function in self._open:
            self._lean(self._open[function])
        elif function in self._leaning:
            self._lean(self._leaning[function])
        return found

    def between(self, key: Hashable, work: Callable[[], Kind]) -> Kind:
        """The memoised result of a question that several functions share."""
        if key in self._open:
            self._lean(self._open[key])
            return BOTTOM
        if key not in self._known:
            if len(self._frames) > _MAX_FRAMES:
                return UNKNOWN

            def store() -> None:
                self._known[key] = work()

            self._within(key, store)
            return self._known[key]
        if key in self._leaning:
            self._lean(self._leaning[key])
        return self._known[key]

    def _lean(self, depth: int) -> None:
        """Note, for all questions above that depth, that they used an unfinished result."""
        for frame in self._frames[depth + 1 :]:
            frame.leans_on = min(frame.leans_on, depth)

    def _within(self, key: Hashable, work: Callable[[], None]) -> None:
        depth = len(self._frames)
        frame = _Frame(key, depth)
        self._frames.append(frame)
        self._open[key] = depth
        try:
            work()
        finally:
            self._frames.pop()
            del self._open[key]
        if frame.leans_on < depth:
            self._leaning[key] = frame.leans_on
        if not self._frames:
            self._forget()

    def _forget(self) -> None:
        for key in self._leaning:
            self._known.pop(key, None)
            self._tables.pop(key, None)
        self._leaning.clear()
