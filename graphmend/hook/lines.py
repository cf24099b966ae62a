"""Where each line of a mended text comes from in the original."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from graphmend.edits import Piece, apply, pieces_of
from graphmend.findings import Edit

# How far a line of a moved statement may have drifted from its expected place, in lines.
_DRIFT = (0, 1, -1, 2, -2, 3, -3)


@dataclass(frozen=True, slots=True)
class Origin:
    """What one line of the mended text stands for.

    `first` is the original line of what begins on it, `last` of what ends on it. `shift` is to be
    added to a column (in bytes) where the text is the original's but for its indentation, and
    None where the text differs.
    """

    first: int
    last: int
    shift: int | None


class Text:
    r"""A text with "\n" line ends, its lines, and the line (from 1) of an offset."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._starts = list(accumulate((len(line) + 1 for line in self.lines), initial=0))[:-1]

    def line_at(self, offset: int) -> int:
        """The line that holds the character at `offset`."""
        return bisect_right(self._starts, offset)

    def start_of(self, line: int) -> int:
        """The offset of the first character of `line`."""
        return self._starts[line - 1]


def line_origins(original: str, edits: Sequence[Edit]) -> list[Origin]:
    """For each line of the mended text, in order, the lines of the original it stands for.

    Lines outside edits map exactly. ValueError as in `graphmend.edits.apply`.
    """
    old = Text(original)
    pieces = pieces_of(original, edits)
    new = Text(apply(original, edits))
    replaced = {id(p.edit): _moved_lines(p.edit, old) for p in pieces if p.edit is not None}
    starts = [piece.start for piece in pieces]
    origins = []
    for number, text in enumerate(new.lines, start=1):
        begin = new.start_of(number)
        head = pieces[max(bisect_right(starts, begin) - 1, 0)]
        tail = pieces[max(bisect_right(starts, max(begin + len(text) - 1, begin)) - 1, 0)]
        first, shift = _first_line(head, begin, text, new, old, replaced)
        last = first if shift is not None else _last_line(tail, number, first, new, old, begin)
        origins.append(Origin(first, max(first, last), shift))
    return origins


def _first_line(
    head: Piece,
    begin: int,
    text: str,
    new: Text,
    old: Text,
    replaced: dict[int, list[tuple[int, int | None]]],
) -> tuple[int, int | None]:
    if head.edit is None:
        line = old.line_at(head.origin + begin - head.start)
        return line, 0 if old.lines[line - 1] == text else None
    index = new.text.count("\n", head.start, begin)
    line, shift = replaced[id(head.edit)][index]
    return line, shift if begin + len(text) <= head.end else None


def _last_line(tail: Piece, number: int, first: int, new: Text, old: Text, begin: int) -> int:
    end = max(begin + len(new.lines[number - 1]) - 1, begin)
    if tail.edit is None:
        return old.line_at(min(tail.origin + end - tail.start, len(old.text)))
    final = new.line_at(tail.end - 1) == number
    if final and tail.edit.end > tail.edit.start:
        return old.line_at(tail.edit.end - 1)
    return first


def _moved_lines(edit: Edit, old: Text) -> list[tuple[int, int | None]]:
    """The original line and column shift for each line of a replacement.

    Lines count on from `origin_line`; where a line was added or dropped on the way, lines whose
    text is still the original's bring the count back in step. The head of a function around a
    moved statement stands for the statement's first line.
    """
    limit = len(old.lines)
    if edit.end > edit.start:
        limit = max(old.line_at(edit.end - 1), min(edit.origin_line, limit))
    head = _head_lines(edit.replacement)
    expected = edit.origin_line + head
    anchored = 0
    moved: list[tuple[int, int | None]] = []
    for text in edit.replacement.split("\n")[head:]:
        found = _same_line(text, expected, anchored, limit, old)
        if found is None:
            moved.append((min(max(expected, anchored, 1), limit), None))
            expected += 1
        else:
            moved.append((found, _indent(old.lines[found - 1]) - _indent(text)))
            anchored, expected = found, found + 1
    return [(moved[0][0], None)] * head + moved


def _same_line(text: str, expected: int, after: int, limit: int, old: Text) -> int | None:
    bare = text.strip()
    if not bare:
        return None
    for step in _DRIFT:
        line = expected + step
        if after < line <= limit and old.lines[line - 1].strip() == bare:
            return line
    return None


def _head_lines(replacement: str) -> int:
    """How many lines come before the body of the function that `replacement` defines, if any."""
    if "def " not in replacement:
        return 0
    try:
        statements = ast.parse(replacement).body
    except SyntaxError:
        return 0
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            return statement.body[0].lineno - 1
    return 0


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
