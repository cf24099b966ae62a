"""Matches the statements of the ast to libcst nodes of the same text.

Parsing with libcst is slow, and it knows some valid programs not at all. So only the top-level
statement that holds what is asked for is parsed.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import libcst

from graphmend.ir.source import Source, SourceError

Twins = dict[ast.stmt, libcst.CSTNode]


class TwinTrees:
    """The libcst trees of one module, a tree for each run of top-level statements in a line."""

    def __init__(self, source: Source, tree: ast.Module, line_offsets: Sequence[int]) -> None:
        self._source = source
        self._groups = _groups(tree.body)
        self._first_lines = [_first_line(group[0]) for group in self._groups]
        self._starts = [line_offsets[line - 1] for line in self._first_lines]
        self._known: dict[int, Twins | SourceError] = {}

    def of(self, statement: ast.stmt) -> libcst.CSTNode:
        """A statement's twin; SourceError where libcst cannot keep the code around it."""
        index = bisect_right(self._first_lines, statement.lineno) - 1
        if index not in self._known:
            self._known[index] = self._match(index)
        found = self._known[index]
        if isinstance(found, SourceError):
            raise found
        return found[statement]

    def _match(self, index: int) -> Twins | SourceError:
        """Parse from a group's first line up to the next group's."""
        end = self._starts[index + 1] if index + 1 < len(self._starts) else None
        text = self._source.text[self._starts[index] : end]
        # libcst loses indented comments at the end of a file: end with a statement instead.
        text = text if text.endswith("\n") else text + self._source.newline
        text += "pass" + self._source.newline
        line = self._first_lines[index]
        try:
            tree = libcst.parse_module(text)
        except libcst.ParserSyntaxError:
            return SourceError(self._source.path, f"line {line}: libcst cannot parse the code")
        except RecursionError:
            return SourceError(self._source.path, f"line {line}: too deep for libcst")
        if tree.code != text and not _differs_in_space_only(tree.code, text):
            return SourceError(self._source.path, f"line {line}: libcst does not keep the code")
        return _match_statements(self._groups[index], tree.body[:-1])


def printer(source: Source, tree: ast.Module) -> libcst.Module:
    """An empty libcst module with the file's encoding, indentation and line ends."""
    lines = source.text.split("\n")
    return libcst.Module(
        body=[],
        encoding=source.encoding,
        default_indent=_indent(tree, lines),
        default_newline=source.newline,
    )


def _indent(tree: ast.Module, lines: list[str]) -> str:
    """What the first indented block adds to the indentation of its statement."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.stmt) and isinstance(body, list):
            first = min([body[0].lineno, *(d.lineno for d in _decorators(body[0]))])
            if first > node.lineno:
                outer, inner = _leading(lines[node.lineno - 1]), _leading(lines[first - 1])
                if inner.startswith(outer) and inner != outer:
                    return inner[len(outer) :]
    return "    "


def _leading(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _decorators(statement: ast.stmt) -> list[ast.expr]:
    return getattr(statement, "decorator_list", [])


def _first_line(statement: ast.stmt) -> int:
    return min([statement.lineno, *(d.lineno for d in _decorators(statement))])


def _groups(body: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
    """Top-level statements, those that share a line together."""
    groups: list[list[ast.stmt]] = []
    for statement in body:
        last = groups[-1][-1].end_lineno if groups else None
        if last is not None and _first_line(statement) <= last:
            groups[-1].append(statement)
        else:
            groups.append([statement])
    return groups


def _differs_in_space_only(code: str, text: str) -> bool:
    """libcst drops the space in `except E :`; nothing else may be lost."""
    same = "".join(code.split()) == "".join(text.split())
    return same and ast.dump(ast.parse(code)) == ast.dump(ast.parse(text))


def _match_statements(body: Sequence[ast.stmt], nodes: Sequence[libcst.CSTNode]) -> Twins:
    found: Twins = {}
    stack = [(body, nodes)]
    while stack:
        statements, twins = stack.pop()
        for statement, twin in zip(statements, _flat(twins), strict=True):
            found[statement] = twin
            stack.extend(_blocks(statement, twin))
    return found


_Blocks = list[tuple[Sequence[ast.stmt], Sequence[libcst.CSTNode]]]


def _blocks(statement: ast.stmt, twin: Any) -> _Blocks:
    """The blocks of a compound statement, each with the same block of its twin.

    Both sides are read by field name, which the two trees share but for `elif` and the
    blocks' own nodes.
    """
    blocks: _Blocks = []
    body = getattr(statement, "body", None)
    if isinstance(body, list):
        blocks.append((body, twin.body.body))
    for clauses in ("handlers", "cases"):
        pairs = zip(getattr(statement, clauses, ()), getattr(twin, clauses, ()), strict=True)
        blocks.extend((a.body, b.body.body) for a, b in pairs)
    orelse = getattr(statement, "orelse", None)
    other = getattr(twin, "orelse", None)
    if orelse and isinstance(other, libcst.If):
        blocks.append((orelse, [other]))
    elif orelse and other is not None:
        blocks.append((orelse, other.body.body))
    final = getattr(statement, "finalbody", None)
    if final:
        blocks.append((final, twin.finalbody.body.body))
    return blocks


def _flat(nodes: Sequence[libcst.CSTNode]) -> list[libcst.CSTNode]:
    found: list[libcst.CSTNode] = []
    for node in nodes:
        if isinstance(node, libcst.SimpleStatementLine):
            found.extend(node.body)
        else:
            found.append(node)
    return found
