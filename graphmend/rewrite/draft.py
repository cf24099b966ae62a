"""A text that is edited in rounds, and what all rounds together change in the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graphmend.findings import Edit


@dataclass(frozen=True, slots=True)
class _Segment:
    """A stretch of the draft: text of the original at `origin`, or new text (`origin` None).

    New text stands for `line` of the original.
    """

    text: str
    origin: int | None
    line: int = 0

    def cut(self, start: int, end: int) -> _Segment:
        """The part of the segment between two offsets in it."""
        origin = None if self.origin is None else self.origin + start
        return replace(self, text=self.text[start:end], origin=origin)


class Draft:
    """The original, edited so far. What is kept of it stays in order, so places can be found."""

    def __init__(self, original: str) -> None:
        self._original = original
        self._segments = [_Segment(original, 0)]

    @property
    def text(self) -> str:
        """The text as it is now."""
        return "".join(segment.text for segment in self._segments)

    def place_of(self, origin: int) -> int | None:
        """Where the character at offset `origin` of the original stands now, if it was kept."""
        start = 0
        for segment in self._segments:
            if segment.origin is not None and 0 <= origin - segment.origin < len(segment.text):
                return start + origin - segment.origin
            start += len(segment.text)
        return None

    def line_of(self, offset: int) -> int:
        """The line of the original, from 1, that the text at `offset` stands for."""
        start = 0
        for segment in self._segments:
            if offset < start + len(segment.text):
                if segment.origin is None:
                    return segment.line
                here = segment.origin + offset - start
                return self._original.count("\n", 0, here) + 1
            start += len(segment.text)
        return self._original.count("\n") + 1

    def apply(self, edits: Sequence[Edit]) -> None:
        """Make a round of edits, whose offsets are those of the text as it is now.

        ValueError where they overlap or leave the text.
        """
        made: list[_Segment] = []
        rest = list(self._segments)
        position = 0
        for edit in sorted(edits, key=lambda e: (e.start, e.end)):
            if edit.start < position:
                raise ValueError("edits overlap or lie outside the text")
            made += _take(rest, edit.start - position)
            _take(rest, edit.end - edit.start)
            if edit.replacement:
                made.append(_Segment(edit.replacement, None, edit.origin_line))
            position = edit.end
        self._segments = made + rest

    def edits(self) -> list[Edit]:
        """All that was changed, as edits of the original in order of their places."""
        found: list[Edit] = []
        old = 0
        new: list[_Segment] = []
        for segment in [*self._segments, _Segment("", len(self._original))]:
            if segment.origin is None:
                new.append(segment)
                continue
            if new or segment.origin > old:
                found += self._gap(old, segment.origin, new)
            old, new = segment.origin + len(segment.text), []
        return found

    def _gap(self, start: int, end: int, new: list[_Segment]) -> list[Edit]:
        """The edits that put `new` in the place of a stretch of the original."""
        if not new:
            return [Edit(start, end, "", self._original.count("\n", 0, start) + 1)]
        first, *more = new
        return [
            Edit(start, end, first.text, first.line),
            *(Edit(end, end, segment.text, segment.line) for segment in more),
        ]


def _take(segments: list[_Segment], count: int) -> list[_Segment]:
    """Remove the first `count` characters from `segments` and return them."""
    taken: list[_Segment] = []
    while count:
        if not segments:
            raise ValueError("edits overlap or lie outside the text")
        head = segments[0]
        if len(head.text) <= count:
            taken.append(segments.pop(0))
            count -= len(head.text)
        else:
            taken.append(head.cut(0, count))
            segments[0] = head.cut(count, len(head.text))
            count = 0
    return taken
