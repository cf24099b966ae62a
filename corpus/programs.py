"""The small break-pattern programs of `corpus/patterns/` and what is known about them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "patterns"
VERDICTS = ("mend", "partial", "decline", "silent")


@dataclass(frozen=True, slots=True)
class Program:
    """A pattern. Its file has `make()`, which returns a callable and a list of argument tuples.

    `graphs` counts the graphs handed to the backend an input, unmended, in default mode: one
    object, a reset an input. `verdict` is what a mender owes it: see patterns.toml.
    """

    name: str
    category: str
    verdict: str
    graphs: tuple[int, ...]
    note: str

    @property
    def path(self) -> Path:
        """The program's file."""
        return FOLDER / f"{self.name}.py"


def programs() -> tuple[Program, ...]:
    """All programs, in the order of patterns.toml."""
    table = tomllib.loads((FOLDER / "patterns.toml").read_text(encoding="utf-8"))
    return tuple(
        Program(name, row["category"], row["verdict"], tuple(row["graphs"]), row["note"])
        for name, row in table.items()
    )
