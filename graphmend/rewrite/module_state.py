"""Module-level names whose value depends on when it is asked: they are read at the site."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphmend.analyses.kind import Tag
from graphmend.facts import Facts
from graphmend.ir.module import Function

_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
# What only reads a container; any other method may write it.
_READERS = frozenset(
    "get keys values items index count copy union intersection difference issubset".split()
)


def changing_globals(function: Function, facts: Facts) -> set[str]:
    """Module-level names that functions bind anew, and those of objects that may be written."""
    tree = function.module.tree
    written = set(_written(tree))
    rebound = {n for node in ast.walk(tree) if isinstance(node, ast.Global) for n in node.names}
    return rebound | {
        name
        for name, value in _assigned(tree)
        if _may_be_written(name, value, written, function, facts)
    }


def stored_attributes(tree: ast.Module) -> set[str]:
    """The attributes that some code of the module stores, of whatever object."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
    }


def _may_be_written(
    name: str, value: ast.expr, written: set[str], function: Function, facts: Facts
) -> bool:
    match value:
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True  # it is there to be filled
        case ast.Call():
            read = ast.Name(name, ast.Load())
            tag = facts.kinds.of(read, function, function.statements[0]).tag
            return tag is not Tag.LOGGER and (
                tag is Tag.TENSOR or not value.args or name in written
            )
    return isinstance(value, _DISPLAYS) and name in written


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The names that the module's own statements bind to the value of an expression."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            continue
        pending += ast.iter_child_nodes(node)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign) and value is not None:
            yield from ((t.id, value) for t in targets if isinstance(t, ast.Name))


def _written(tree: ast.Module) -> Iterator[str]:
    """The names through which some code stores, calls a method that may write, or hands on."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
            ):
                yield from _root(node.value)
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr not in _READERS:
                yield from _root(value)
            case ast.AugAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(value=ast.Name(id=name)):
                yield name


def _root(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
