"""Which variables of a function a part of it reads and binds."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from graphmend.ir.module import Function
from graphmend.ir.scopes import Scope, walk


def variables(part: ast.AST, function: Function) -> Iterator[ast.Name]:
    """The names in `part` that are variables of a function around it."""
    scopes = function.module.scopes.name_scopes
    inside = {id(node) for node in walk(part)}
    for node in walk(part):
        if isinstance(node, ast.Name):
            owner: Scope | None = scopes[node].owner(node.id)
            if owner is None or owner.parent is None or id(owner.node) in inside:
                continue
            yield node


def bound_in(side: Sequence[ast.stmt], function: Function) -> list[str]:
    """The names that a side binds, in order of their first binding."""
    return [
        node.id
        for statement in side
        for node in variables(statement, function)
        if isinstance(node.ctx, ast.Store)
    ]


def bound_in_expression(expression: ast.expr) -> set[str]:
    """The names that an expression binds by `:=`."""
    return {n.target.id for n in ast.walk(expression) if isinstance(n, ast.NamedExpr)}


def read_from_before(side: Sequence[ast.stmt], function: Function) -> set[str]:
    """The names whose value from before the region a side may read."""
    inside = {id(node) for statement in side for node in walk(statement)}
    names: set[str] = set()
    for statement in (s for top in side for s in _statements(top)):
        for name in _reads(statement, function):
            reaching = function.flow.definitions_reaching(statement, name)
            if any(id(definition.stmt) not in inside for definition in reaching):
                names.add(name)
    return names


def _reads(statement: ast.stmt, function: Function) -> set[str]:
    """The variables that a statement's own header reads."""
    found: set[str] = set()
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        found.add(statement.target.id)
    for part in _own_parts(statement):
        found |= {n.id for n in variables(part, function) if isinstance(n.ctx, ast.Load)}
    return found


def _own_parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that are no statements of its blocks."""
    for _, value in ast.iter_fields(statement):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST) and not isinstance(item, ast.stmt):
                yield item


def _statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    return (node for node in walk(statement) if isinstance(node, ast.stmt))


def surely_binds(block: Sequence[ast.stmt], name: str, function: Function) -> bool:
    """Whether every way through a block binds the name."""
    return any(_binds(statement, name, function) for statement in block)


def _binds(statement: ast.stmt, name: str, function: Function) -> bool:
    match statement:
        case ast.If(body=body, orelse=orelse):
            return surely_binds(body, name, function) and surely_binds(orelse, name, function)
        case ast.With(items=items, body=body):
            targets = [item.optional_vars for item in items if item.optional_vars is not None]
            if any(_stores(target, name) for target in targets):
                return True
            passes = all(passes_exceptions(item.context_expr, function) for item in items)
            return passes and surely_binds(body, name, function)
        case ast.Assign(targets=targets):
            return any(_stores(target, name) for target in targets)
        case ast.AnnAssign(target=target, value=value):
            return value is not None and _stores(target, name)
        case ast.AugAssign(target=target):
            return _stores(target, name)
    return False


def _stores(target: ast.expr, name: str) -> bool:
    match target:
        case ast.Name(id=found):
            return found == name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return any(_stores(part, name) for part in parts)
        case ast.Starred(value=value):
            return _stores(value, name)
    return False


def passes_exceptions(context: ast.expr, function: Function) -> bool:
    """Whether a context manager is one of torch's: those swallow no exception."""
    called = context.func if isinstance(context, ast.Call) else context
    return (function.module.qualified(called, function) or "").startswith("torch.")
