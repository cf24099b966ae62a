"""Markdown that several pages are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(headings: Iterable[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a line end behind it; bars and line ends in cells are taken care of."""
    headings = list(headings)
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join("| " + " | ".join(map(_cell, line)) + " |\n" for line in lines)


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")
