"""Branches on whether the program is being compiled: one side of them is never traced."""

from __future__ import annotations

import ast

from graphmend.ir.module import Function

_ASKS = frozenset(
    {
        "torch.compiler.is_compiling",
        "torch.compiler.is_dynamo_compiling",
        "torch._dynamo.is_compiling",
    }
)


def traced_side(statement: ast.If, function: Function) -> list[ast.stmt] | None:
    """The only side of a branch that can be traced; None where it may be either."""
    if _asks(statement.test, function):
        return statement.body
    return statement.orelse if _is_eager_only(statement.test, function) else None


def _is_eager_only(test: ast.expr, function: Function) -> bool:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _asks(operand, function)
        case ast.BoolOp(op=ast.And(), values=[first, *_]):
            return _is_eager_only(first, function)
    return False


def _asks(test: ast.expr, function: Function) -> bool:
    if not isinstance(test, ast.Call) or test.args or test.keywords:
        return False
    return function.module.qualified(test.func, function) in _ASKS
