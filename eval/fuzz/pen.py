"""Draws a program's parts, and knows which names hold what where it writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

T = TypeVar("T")
Lines = list[str]


def indent(lines: Lines) -> Lines:
    """The lines of a block's body."""
    return ["    " + line for line in lines]


@dataclass
class Names:
    """What the names in scope hold. A matrix is a float tensor (rows, 2), a scalar one of 0-d."""

    matrices: Lines
    scalars: Lines = field(default_factory=list)
    has_ids: bool = False
    has_mask: bool = False
    owner: bool = False

    def copy(self) -> Names:
        return Names(
            list(self.matrices),
            list(self.scalars),
            self.has_ids,
            self.has_mask,
            self.owner,
        )


class Pen:
    """Draws choices by hypothesis; what is simplest comes first, so that it shrinks to that.

    `leaves` says that the argument `x` takes gradients.
    """

    def __init__(self, draw: DrawFn, names: Names) -> None:
        self._draw = draw
        self.names = names
        self.depth = 0
        self.leaves = False
        self.definitions: dict[str, Lines] = {}
        self.methods: dict[str, Lines] = {}
        self._count = 0

    def pick(self, *options: T) -> T:
        """One of the options."""
        return self._draw(_sampled(options))

    def weighted(self, *options: tuple[int, T]) -> T:
        """One of the options, by weights."""
        return self._draw(_weighted(options))

    def chance(self, percent: int) -> bool:
        """True about so often; shrinks to False."""
        return self._draw(_integers(0, 99)) >= 100 - percent

    def number(self, low: int, high: int) -> int:
        """A whole number between two, both included; shrinks to the lower."""
        return self._draw(_integers(low, high))

    def fresh(self, prefix: str = "t") -> str:
        """A name that is not used yet."""
        self._count += 1
        return f"{prefix}{self._count}"

    @contextmanager
    def block(self) -> Iterator[None]:
        """Write a block: what it binds is not in scope behind it."""
        kept, self.names = self.names, self.names.copy()
        self.depth += 1
        yield
        self.depth -= 1
        self.names = kept

    @contextmanager
    def function(self, names: Names) -> Iterator[None]:
        """Write the body of another function, with its own names."""
        kept, self.names = (self.names, self.depth), names
        self.depth += 1
        yield
        self.names, self.depth = kept


@cache
def _sampled(options: tuple[Any, ...]) -> SearchStrategy[Any]:
    return st.sampled_from(options)


@cache
def _weighted(options: tuple[tuple[int, Any], ...]) -> SearchStrategy[Any]:
    return st.sampled_from([option for weight, option in options for _ in range(weight)])


@cache
def _integers(low: int, high: int) -> SearchStrategy[int]:
    return st.integers(low, high)
