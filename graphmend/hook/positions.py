"""Give the syntax tree of a mended text the places of the original text."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from graphmend.hook.lines import Origin


def relocate(tree: ast.AST, origins: Sequence[Origin], original: str) -> None:
    """Move every node to the place in `original` that it stands for; `tree` is changed.

    Where a line's text is the original's, columns stay right too. Elsewhere a node spans the
    whole original line or statement, so that tracebacks underline nothing wrong. Every node
    keeps a valid range: it never ends before it begins.
    """
    lines = original.split("\n")
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            _relocate(node, origins, lines)


def _relocate(node: ast.AST, origins: Sequence[Origin], lines: list[str]) -> None:
    begin = _origin(origins, node.lineno)  # type: ignore[attr-defined]
    end_line = node.end_lineno or node.lineno  # type: ignore[attr-defined]
    end_column = node.end_col_offset or 0  # type: ignore[attr-defined]
    end = _origin(origins, end_line)
    if begin.shift is not None:
        column = max(node.col_offset + begin.shift, 0)  # type: ignore[attr-defined]
    else:
        column = _indent(lines[begin.first - 1])
    if end.shift is not None:
        place = (end.first, max(end_column + end.shift, 0))
    else:
        place = (end.last, _width(lines[end.last - 1]))
    if place < (begin.first, column):
        place = (begin.first, max(column, _width(lines[begin.first - 1])))
    node.lineno, node.col_offset = begin.first, column  # type: ignore[attr-defined]
    node.end_lineno, node.end_col_offset = place  # type: ignore[attr-defined]


def _origin(origins: Sequence[Origin], line: int) -> Origin:
    return origins[min(max(line, 1), len(origins)) - 1]


def _indent(line: str) -> int:
    return len(line.encode()) - len(line.lstrip().encode())


def _width(line: str) -> int:
    return len(line.rstrip().encode())
