"""Containers in the value interpreter: displays, builtins, torch.nn's module containers."""

from __future__ import annotations

import ast
from collections.abc import Callable

from graphmend.ir.values import ANYTHING, NOTHING, ExternalInstance, Many, Vals, elements

METHODS = frozenset({"values", "items", "get", "pop", "children", "copy", "__getitem__"})
"""Methods of a container that hand out its elements or their container."""

MAKERS = frozenset(
    {
        "builtins.dict",
        "builtins.enumerate",
        "builtins.iter",
        "builtins.list",
        "builtins.map",
        "builtins.next",
        "builtins.reversed",
        "builtins.set",
        "builtins.sorted",
        "builtins.tuple",
        "builtins.zip",
        "torch.nn.ModuleDict",
        "torch.nn.ModuleList",
        "torch.nn.Sequential",
    }
)
"""Outside callables that make containers of, or take elements from, their arguments."""


def make(name: str, arguments: list[Vals]) -> Vals:
    """The value of calling one of `MAKERS`."""
    if name == "builtins.next":
        return elements(arguments[0]) if arguments else ANYTHING
    if name == "builtins.map":
        return ANYTHING
    if name == "torch.nn.Sequential" and not _is_container(arguments):
        return frozenset({Many(NOTHING.union(*arguments), sequential=True)})
    inside = NOTHING.union(*(elements(argument) for argument in arguments))
    return frozenset({Many(inside, sequential=name == "torch.nn.Sequential")})


def _is_container(arguments: list[Vals]) -> bool:
    return len(arguments) == 1 and any(isinstance(v, Many) for v in arguments[0])


def display(node: ast.expr, again: Callable[[ast.expr], Vals]) -> Vals:
    """The value of a list, tuple, set or dict display or comprehension, or of an operator."""
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return frozenset({Many(NOTHING.union(*(_part(part, again) for part in parts)))})
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            inside = [elements(again(v)) if k is None else again(v) for k, v in pairs]
            return frozenset({Many(NOTHING.union(*inside))})
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return frozenset({Many(again(node.elt))})
        case ast.DictComp():
            return frozenset({Many(again(node.value))})
        case ast.BinOp(op=ast.Add() | ast.Mult() | ast.BitOr()):
            both = again(node.left) | again(node.right)
            return both if any(isinstance(v, Many) for v in both) else ANYTHING
    return ANYTHING


def _part(part: ast.expr, again: Callable[[ast.expr], Vals]) -> Vals:
    return elements(again(part.value)) if isinstance(part, ast.Starred) else again(part)


def subscript(base: Vals, index: ast.expr) -> Vals:
    """The value of `base[index]`: an element, or for a slice the container."""
    if isinstance(index, ast.Slice):
        return base
    return elements(frozenset(v for v in base if not isinstance(v, ExternalInstance))) or ANYTHING


def method(base: Vals, name: str) -> Vals:
    """The value of calling one of `METHODS` on a container."""
    if name in {"values", "items", "children", "copy"}:
        return base
    return elements(base)
