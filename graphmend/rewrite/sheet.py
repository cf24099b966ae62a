"""Edits of whole lines, and of headers in them, gathered for one place of a text."""

from __future__ import annotations

from graphmend.findings import Edit
from graphmend.ir.module import Module
from graphmend.rewrite.draft import Draft
from graphmend.rewrite.text import line_end, lines_inside_strings


class Sheet:
    """Collects edits of the text of `module`, which is that of `draft` as it is now."""

    def __init__(self, module: Module, draft: Draft) -> None:
        self._text = module.source.text
        self._offsets = module.line_offsets
        self._newline = module.source.newline
        self._draft = draft
        self._replaced: list[Edit] = []
        self._before: dict[int, str] = {}
        self._after: list[tuple[int, str, int]] = []
        self._indents: dict[int, str] = {}

    def replace(self, start: int, end: int, text: str) -> None:
        """Put `text` in the place of a stretch."""
        self._replaced.append(Edit(start, end, text, self._draft.line_of(start)))

    def before(self, line: int, text: str) -> None:
        """Add a line in front of a line; the lines added there stand in the order of calls."""
        self._before[line] = self._before.get(line, "") + text + self._newline

    def after(self, line: int, text: str, origin: int | None = None) -> None:
        """Add a line behind a line; the lines added there stand in the order of calls.

        It stands for the line `origin`, by default the one that it is put behind.
        """
        self._after.append((line, text, origin or line))

    def gap_before(self, line: int, header: bool = False) -> None:
        """See to a blank line in front of a line.

        With `header`, in front of the comments above it too, and not at the start of a block.
        """
        if self._before.get(line):
            return
        while header and line > 1 and self.line(line - 1).strip().startswith("#"):
            line -= 1
        above = self.line(line - 1).strip() if line > 1 else ""
        if above and not (header and above.endswith(":")):
            self.before(line, "")

    def indent(self, first: int, last: int, by: str) -> None:
        """Indent lines by so much more, but for those that begin inside a string."""
        for line in range(first, last + 1):
            self._indents[line] = self._indents.get(line, "") + by

    @property
    def lines(self) -> int:
        """How many lines the text has."""
        return len(self._offsets)

    def line(self, number: int) -> str:
        """The text of a line."""
        start = self._offsets[number - 1]
        return self._text[start : line_end(self._text, start)]

    def first_line_from(self, line: int) -> int:
        """The first line from `line` on that is not blank."""
        while not self.line(line).strip():
            line += 1
        return line

    def edits(self) -> list[Edit]:
        """All edits."""
        made = list(self._replaced)
        for line, text in self._before.items():
            made.append(self._insert(self._offsets[line - 1], text))
        fixed = lines_inside_strings(self._text) if self._indents else frozenset()
        for line, by in self._indents.items():
            if line not in fixed and self.line(line).strip():
                made.append(self._insert(self._offsets[line - 1], by))
        for line, text, origin in self._after:
            offset = line_end(self._text, self._offsets[line - 1])
            stands_for = self._draft.line_of(self._offsets[origin - 1])
            # The replacement begins on the line before.
            made.append(Edit(offset, offset, self._newline + text, max(stands_for - 1, 1)))
        return made

    def _insert(self, offset: int, text: str) -> Edit:
        return Edit(offset, offset, text, self._draft.line_of(offset))
