"""Branches that choose Python values: a tensor cannot take their place, so what uses them moves.

`peak = 1.0 if x.max() <= 1 else 255.0` leaves a number whose arithmetic keeps the dtype of the
other operand, which a tensor in its place might not. So the statements that use it, up to where
only tensors are left, run on each side with the number as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from graphmend.analyses.kind import Tag
from graphmend.facts import Facts
from graphmend.ir.module import Function
from graphmend.ir.scopes import walk
from graphmend.rewrite.refusal import Refused
from graphmend.rewrite.region import following

_LEFT = "its sides leave Python values, and a tensor would take their place"


def uses(statement: ast.stmt, numbers: set[str], function: Function, facts: Facts) -> int:
    """How many of the statements behind `statement` are needed to turn numbers into tensors.

    Raises `Refused` where they are never all turned into tensors.
    """
    number_like, behind = set(numbers), following(statement, function)
    for count, later in enumerate(behind, start=1):
        number_like = _after(later, number_like, function, facts)
        if number_like & function.flow.live_after(later):
            continue
        if count == len(behind) or behind[count].lineno != later.end_lineno:  # whole lines move
            return count
    raise Refused(_LEFT)


def _after(statement: ast.stmt, numbers: set[str], function: Function, facts: Facts) -> set[str]:
    """The names that hold Python values made of the chosen ones, behind a statement."""
    left = set(numbers)
    for part in walk(statement):
        match part:
            case ast.Return(value=value):
                if value is not None and _hands_out(value, left, function, facts, part):
                    raise Refused(_LEFT)
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()], value=value) if _hands_out(
                value, left, function, facts, part
            ):
                raise Refused(_LEFT)
            case ast.Assign(targets=targets, value=value):
                names = [n for target in targets for n in _names(target)]
                if _is_tensor(value, function, facts, part):
                    left -= set(names)
                elif _reads(statement, left):
                    left |= set(names)
            case ast.AugAssign() | ast.For() | ast.NamedExpr() | ast.With():
                if _reads(statement, left):
                    left |= {n for n in _stores(part)}
            case ast.AnnAssign(target=target) if _reads(statement, left):
                left |= set(_names(target))
    return left


def _hands_out(
    value: ast.expr, numbers: set[str], function: Function, facts: Facts, stmt: ast.stmt
) -> bool:
    """Whether a returned value is, or holds, a Python value made of the chosen ones."""
    if isinstance(value, ast.Tuple):
        return any(_hands_out(part, numbers, function, facts, stmt) for part in value.elts)
    return _reads(value, numbers) and not _is_tensor(value, function, facts, stmt)


def _is_tensor(value: ast.expr, function: Function, facts: Facts, stmt: ast.stmt) -> bool:
    """Whether an expression makes a tensor; a name may hold one on one side only."""
    kind = facts.kinds.of(value, function, stmt)
    return kind.tag is Tag.TENSOR and not kind.optional and not isinstance(value, ast.Name)


def _reads(part: ast.AST, names: set[str]) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load)
        for node in walk(part)
    )


def _stores(part: ast.AST) -> Iterator[str]:
    for node in walk(part):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _names(target: ast.expr) -> Sequence[str]:
    return list(_stores(target))
