"""What a text becomes when its edits are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphmend.findings import Edit


@dataclass(frozen=True, slots=True)
class Piece:
    """`start` and `end` are offsets in the mended text; `origin` is one in the original."""

    start: int
    end: int
    origin: int
    edit: Edit | None


def apply(original: str, edits: Sequence[Edit]) -> str:
    """The original with all edits made; ValueError where they overlap or leave the text."""
    return "".join(
        original[p.origin : p.origin + p.end - p.start] if p.edit is None else p.edit.replacement
        for p in pieces_of(original, edits)
    )


def pieces_of(original: str, edits: Sequence[Edit]) -> list[Piece]:
    """The mended text in pieces, kept or replaced, in order; ValueError as in `apply`."""
    pieces = []
    new = old = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if not old <= edit.start <= edit.end <= len(original):
            raise ValueError("edits overlap or lie outside the text")
        if edit.start > old:
            pieces.append(Piece(new, new + edit.start - old, old, None))
            new += edit.start - old
        if edit.replacement:
            pieces.append(Piece(new, new + len(edit.replacement), edit.start, edit))
            new += len(edit.replacement)
        old = edit.end
    if old < len(original) or not pieces:
        pieces.append(Piece(new, new + len(original) - old, old, None))
    return pieces
