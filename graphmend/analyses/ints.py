"""Tensors where torch needs Python ints: sizes, dimensions, positions, bounds of slices."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphmend.analyses import calls
from graphmend.analyses.kind import Tag
from graphmend.ir.module import Function

if TYPE_CHECKING:
    from graphmend.analyses.kinds import Kinds

# Parameters whose ints may be written as arguments of their own, x.view(2, n), and those behind
# them that can only be given by keyword.
_SPREAD = frozenset({"dims", "repeats", "shape", "size"})
_KEYWORDS = frozenset({"device", "dtype", "implicit", "layout", "pin_memory"})


def tensors_as_ints(
    kinds: Kinds, node: ast.expr, function: Function | None, stmt: ast.stmt | None
) -> list[ast.expr]:
    """The tensors that evaluating `node` itself, not its parts, turns into Python ints."""
    if isinstance(node, ast.Call):
        wanted = _of_call(kinds, node, function, stmt)
    elif isinstance(node, ast.Subscript):
        wanted = _of_index(kinds, node, function, stmt)
    else:
        return []
    return [
        e
        for e in wanted
        if kinds.of(e, function, stmt).tag is Tag.TENSOR
        and not _from_numbers(kinds, e, function, stmt)
    ]


def _of_call(
    kinds: Kinds, node: ast.Call, function: Function | None, stmt: ast.stmt | None
) -> Iterator[ast.expr]:
    ran = calls.operator(kinds, node, function, stmt)
    if ran is None:
        return
    found, given = ran
    ints = {found.params[i] for i in found.ints if i < len(found.params)}
    for name, value in given.items():
        spread = value in node.args and (name in _KEYWORDS or name.startswith("#"))
        if name in ints or (spread and ints & _SPREAD):
            yield from value.elts if isinstance(value, ast.Tuple | ast.List) else [value]


def _of_index(
    kinds: Kinds, node: ast.Subscript, function: Function | None, stmt: ast.stmt | None
) -> Iterator[ast.expr]:
    if kinds.of(node.value, function, stmt).tag is not Tag.TENSOR:
        return
    for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
        if isinstance(part, ast.Slice):
            yield from (e for e in (part.lower, part.upper, part.step) if e is not None)
            continue
        kind = kinds.of(part, function, stmt)
        if kind.zero_dim and not kind.bool_dtype:
            yield part


def _from_numbers(
    kinds: Kinds,
    expr: ast.expr,
    function: Function | None,
    stmt: ast.stmt | None,
    seen: frozenset[ast.stmt] = frozenset(),
) -> bool:
    """Whether an operator made the tensor of Python numbers alone: the tracer knows its value."""

    def again(part: ast.expr) -> bool:
        folds = kinds.of(part, function, stmt).folds
        return folds or _from_numbers(kinds, part, function, stmt, seen)

    match expr:
        case ast.BinOp(left=left, right=right):
            return again(left) and again(right)
        case ast.Call():
            ran = calls.operator(kinds, expr, function, stmt)
            return ran is not None and ran[0].pointwise and all(map(again, ran[1].values()))
        case ast.Name(id=name) if function is not None and stmt is not None:
            found = function.flow.definitions_reaching(stmt, name)
            return bool(found) and all(
                isinstance(d.stmt, ast.Assign)
                and d.stmt not in seen
                and all(isinstance(t, ast.Name) for t in d.stmt.targets)
                and _from_numbers(kinds, d.stmt.value, function, d.stmt, seen | {d.stmt})
                for d in found
            )
    return False
