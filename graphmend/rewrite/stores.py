"""Attributes that a side stores: after a selection they hold tensors of their own.

In the original an attribute keeps the tensor that it held, or gets one that something else holds
too; a later write in place to that tensor shows in both. So attributes that the module writes in
place, and those that may share a tensor with one, are not selected.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from graphmend.ir.module import Module
from graphmend.ir.symbols import attribute_stores
from graphmend.rewrite.sides import Branch, registers_buffer


def stores_nothing_written_in_place(branch: Branch) -> str | None:
    """Refuse attributes whose tensor some code of the module writes in place."""
    stored = {name for s in branch.statements for name, _ in _stores([s])}
    if not stored:
        return None
    module = branch.facts.module
    shared = _sharing(stored, module)
    for name in _written_in_place(module):
        if name in shared:
            return f"`.{name}` is written in place elsewhere, and a side stores what it may share"
    return None


def _sharing(names: set[str], module: Module) -> set[str]:
    """The attributes that may hold the same tensor as one of `names`, going by assignments."""
    pairs = [
        (target, value.attr)
        for target, value in _stores(module.nodes)
        if isinstance(value, ast.Attribute)
    ]
    shared = set(names)
    while True:
        more = {n for pair in pairs if shared & set(pair) for n in pair} - shared
        if not more:
            return shared
        shared |= more


def _stores(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr | None]]:
    """The attributes that statements among `nodes`, or in them, store, with the values."""
    for top in nodes:
        for node in ast.walk(top) if isinstance(top, ast.stmt) else ():
            if isinstance(node, ast.Assign | ast.AnnAssign):
                yield from ((target.attr, value) for target, value in attribute_stores(node))
            match node:
                case ast.Expr(value=ast.Call(args=[ast.Constant(value=str(name)), held, *_])):
                    if registers_buffer(node):
                        yield name, held


def _written_in_place(module: Module) -> Iterator[str]:
    """The attributes whose tensor is the target of a write in place."""
    for node in module.nodes:
        match node:
            case ast.AugAssign(target=ast.Attribute(attr=name)):
                yield name
            case ast.Subscript(value=ast.Attribute(attr=name), ctx=ast.Store() | ast.Del()):
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=name), attr=method)):
                if method.endswith("_") and not method.endswith("__"):
                    yield name
            case ast.keyword(arg="out", value=ast.Attribute(attr=name)):
                yield name
