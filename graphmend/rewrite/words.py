"""The names of the functions that a selection makes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields

from graphmend.rewrite.names import Names


@dataclass(frozen=True, slots=True)
class Words:
    """What the two sides are called, and what both do with their values."""

    then: str = "then"
    otherwise: str = "otherwise"
    rest: str = "rest"

    def fresh(self, names: Names, wanted: Collection[str]) -> Words:
        """The same, with names for the wanted ones that the module does not use."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        return Words(*(names.fresh(w) if w in wanted and g == w else g for w, g in given.items()))
