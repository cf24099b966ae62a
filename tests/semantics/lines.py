"""The lines of what a mended program must keep."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

LINES = Path(__file__).with_name("lines.toml")
_NAMED = re.compile(r"\(([A-Z]\d+(?:, [A-Z]\d+)*)\)")


@dataclass(frozen=True)
class Line:
    """One line: its name, what it says, and whether tests show `legal` or `refused` fixes."""

    name: str
    says: str
    needs: frozenset[str]


def lines() -> list[Line]:
    """All lines, in the order of the file."""
    stored = tomllib.loads(LINES.read_text())
    return [Line(name, item["says"], frozenset(item["needs"])) for name, item in stored.items()]


def named(names: Iterable[str], side: str) -> list[Any]:
    """Parameters that name their lines at the end, as "an index (W6)" does, marked with them."""
    return [
        pytest.param(
            name,
            marks=[
                pytest.mark.semantics(line, side)
                for lines in _NAMED.findall(name)
                for line in lines.split(", ")
            ],
        )
        for name in names
    ]
