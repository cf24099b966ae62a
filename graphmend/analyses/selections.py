"""What is known of the selections that graphmend has made: `select(test, then, otherwise, ..)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeGuard

from graphmend.analyses.kind import UNKNOWN, Kind, join, tuple_of
from graphmend.ir.module import Function

if TYPE_CHECKING:
    from graphmend.analyses.kinds import Kinds

SELECT = "graphmend.runtime.select"


def is_side(function: Function) -> bool:
    """Whether a function is a side of a selection: what it holds has been mended already."""
    outer = function.outer
    if outer is None or isinstance(function.node, ast.Lambda):
        return False
    return any(
        isinstance(argument, ast.Name) and argument.id == function.name
        for call in _selections(outer)
        for argument in call.args
    )


def side_calls(call: ast.Call, function: Function) -> list[tuple[Function, ast.Call]]:
    """The functions that a selection may run, each with a call that passes what it is given.

    Functions among the values count too: a side hands its numbers to one of them.
    """
    values = call.args[3:]
    found = []
    for argument in call.args[1:]:
        inner = _local_function(argument, function)
        if inner is not None:
            found.append((inner, ast.Call(func=argument, args=values, keywords=[])))
    return found


def _local_function(node: ast.expr, function: Function) -> Function | None:
    """The function of `function` that a name stands for, or that a lambda is."""
    for inner in function.module.functions.values():
        if inner.outer is function:
            if inner.node is node or isinstance(node, ast.Name) and inner.name == node.id:
                return inner
    return None


def is_selection(node: ast.AST, function: Function) -> TypeGuard[ast.Call]:
    """Whether an expression of a function is a selection."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    return function.module.qualified(node.func, function) == SELECT


def _selections(function: Function) -> Iterator[ast.Call]:
    for node in function.nodes:
        if is_selection(node, function):
            yield node


def given(kinds: Kinds, name: str, side: Function) -> Kind | None:
    """The kind of a side's parameter: that of the value that the selection hands over."""
    outer = side.outer
    if outer is None or isinstance(side.node, ast.Lambda):
        return None
    positions = [argument.arg for argument in side.node.args.args]
    found = [
        kinds.evaluate(call.args[positions.index(name)], outer)
        for selection in _selections(outer)
        for inner, call in side_calls(selection, outer)
        if inner is side and len(call.args) == len(positions)
    ]
    return join(found) if found else None


def result(kinds: Kinds, call: ast.Call, function: Function, again: Callable[..., Kind]) -> Kind:
    """The kind of a selection: what its sides return."""
    if len(call.args) < 3:
        return UNKNOWN
    return join(_returned(kinds, side, call, function, again) for side in call.args[1:3])


def _returned(
    kinds: Kinds, side: ast.expr, call: ast.Call, function: Function, again: Callable[..., Kind]
) -> Kind:
    match side:
        case ast.Name():
            inner = _local_function(side, function)
            return UNKNOWN if inner is None else kinds.returns(inner)
        case ast.Lambda(args=ast.arguments(args=params), body=body):
            handed = {p.arg: a for p, a in zip(params, call.args[3:], strict=False)}
            return _substituted(kinds, body, handed, function, again)
    return UNKNOWN


def _substituted(
    kinds: Kinds,
    body: ast.expr,
    handed: dict[str, ast.expr],
    function: Function,
    again: Callable[..., Kind],
) -> Kind:
    """The kind of a lambda's body."""
    match body:
        case ast.Name(id=name) if name in handed:
            return again(handed[name])
        case ast.Tuple(elts=parts):
            return tuple_of(_substituted(kinds, p, handed, function, again) for p in parts)
        case ast.Constant():
            return again(body)
        case ast.Call(func=ast.Name(id=name)) if name in handed:
            inner = _local_function(handed[name], function)
            return UNKNOWN if inner is None else kinds.returns(inner)
    return UNKNOWN
