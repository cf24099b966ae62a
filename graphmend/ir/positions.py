"""From the tree's line and column (in UTF-8 bytes) to character offsets into the text."""

from __future__ import annotations

import ast
from collections.abc import Mapping


class Positions:
    r"""Offsets into one text. Lines end at "\n" only, as in Python's tokenizer."""

    def __init__(self, text: str) -> None:
        self.text = text
        starts = [0]
        end = text.find("\n")
        while end >= 0:
            starts.append(end + 1)
            end = text.find("\n", end + 1)
        self.line_offsets: tuple[int, ...] = tuple(starts)
        self._ascii = text.isascii()

    def offset(self, line: int, column: int) -> int:
        """Offset of a place given as line (from 1) and UTF-8 byte column (from 0)."""
        start = self.line_offsets[line - 1]
        if self._ascii:
            return start + column
        # A character takes at least one byte, so the prefix lies within `column` characters.
        prefix = self.text[start : start + column].encode()[:column]
        return start + len(prefix.decode(errors="ignore"))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Start and end of a node that carries a position."""
        where = _Place.of(node)
        return self.offset(where.line, where.column), self.offset(where.end_line, where.end_column)

    def sure_span(self, node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> tuple[int, int]:
        """Like `span`, but inside an f-string that of the whole string where it is in doubt.

        Before Python 3.12 the positions of nodes inside f-strings are not reliable.
        """
        outermost = None
        parent = parents.get(node)
        while isinstance(parent, ast.expr | ast.comprehension | ast.keyword):
            if isinstance(parent, ast.JoinedStr):
                outermost = parent
            parent = parents.get(parent)
        if outermost is None:
            return self.span(node)
        whole = self.span(outermost)
        start, end = self.span(node)
        if whole[0] <= start < end <= whole[1] and _is_text_of(node, self.text[start:end]):
            return start, end
        return whole


class _Place:
    def __init__(self, line: int, column: int, end_line: int, end_column: int) -> None:
        self.line, self.column = line, column
        self.end_line, self.end_column = end_line, end_column

    @classmethod
    def of(cls, node: ast.AST) -> _Place:
        line, column = getattr(node, "lineno", None), getattr(node, "col_offset", None)
        end, end_column = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
        if line is None or column is None or end is None or end_column is None:
            raise ValueError(f"{type(node).__name__} nodes have no position")
        return cls(line, column, end, end_column)


def _is_text_of(node: ast.AST, text: str) -> bool:
    if not isinstance(node, ast.expr):
        return False
    try:
        parsed = ast.parse(f"({text}\n)", mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return ast.dump(parsed) == ast.dump(node)
