"""Matches the statements of the ast to those of the libcst tree of the same text."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import libcst

from graphmend.ir.source import Source, SourceError


def parse(source: Source) -> libcst.Module:
    """The libcst tree of a source; SourceError where libcst rejects or alters the text."""
    config = libcst.PartialParserConfig(encoding=source.encoding)
    try:
        tree = libcst.parse_module(source.text, config)
    except libcst.ParserSyntaxError as error:
        line = f"line {error.raw_line}: "
        raise SourceError(source.path, f"{line}libcst cannot parse it") from None
    if tree.code != source.text:
        raise SourceError(source.path, "libcst does not keep the text of this file")
    return tree


def match_statements(tree: ast.Module, cst: libcst.Module) -> dict[ast.stmt, libcst.CSTNode]:
    """Each ast statement's libcst twin: a small statement, or a compound statement."""
    found: dict[ast.stmt, libcst.CSTNode] = {}
    stack: list[tuple[Sequence[ast.stmt], Sequence[libcst.CSTNode]]] = [(tree.body, cst.body)]
    while stack:
        statements, nodes = stack.pop()
        for statement, twin in zip(statements, _flat(nodes), strict=True):
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
