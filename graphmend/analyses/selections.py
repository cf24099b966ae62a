"""What is known of the selections that graphmend has made: `select(test, then, otherwise, ..)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from graphmend.analyses.kind import UNKNOWN, Kind, Tag, join, tuple_of
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


def _selections(function: Function) -> Iterator[ast.Call]:
    for node in function.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if function.module.qualified(node.func, function) == SELECT:
                yield node


def result(kinds: Kinds, call: ast.Call, function: Function, again: Callable[..., Kind]) -> Kind:
    """The kind of a selection: what its sides return, as far as that is known."""
    if len(call.args) < 3:
        return UNKNOWN
    sides = [_returned(kinds, side, call, function, again) for side in call.args[1:3]]
    found = join(kind for kind in sides if kind.tag is not Tag.UNKNOWN)
    if found.tag is Tag.BOTTOM:
        return UNKNOWN
    return replace(found, presumed=True) if found.tag is Tag.TENSOR else found


def _returned(
    kinds: Kinds, side: ast.expr, call: ast.Call, function: Function, again: Callable[..., Kind]
) -> Kind:
    match side:
        case ast.Name():
            inner = _local_function(side, function)
            return UNKNOWN if inner is None else kinds.returns(inner)
        case ast.Lambda(args=ast.arguments(args=params), body=body):
            given = {p.arg: a for p, a in zip(params, call.args[3:], strict=False)}
            return _substituted(body, given, again)
    return UNKNOWN


def _substituted(body: ast.expr, given: dict[str, ast.expr], again: Callable[..., Kind]) -> Kind:
    """The kind of a lambda's body, for the forms that hand on what they are given."""
    match body:
        case ast.Name(id=name) if name in given:
            return again(given[name])
        case ast.Tuple(elts=parts):
            return tuple_of(_substituted(part, given, again) for part in parts)
        case ast.Constant():
            return again(body)
    return UNKNOWN
