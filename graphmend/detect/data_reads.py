"""Expressions that read tensor data: branch conditions, scalars, data-dependent shapes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphmend.analyses.ints import tensors_as_ints
from graphmend.analyses.kind import Tag
from graphmend.detect.site import BOUND, BRANCH, DYNAMIC_SHAPE, LOOP, SCALAR, Rule, Site
from graphmend.detect.truth import breaks_at
from graphmend.facts import Facts
from graphmend.ir.module import Function

_NO_SELECTION = "no rule turns this test into a selection yet"
_NO_LOOP = "no rule bounds this loop yet"
_NO_LIFTING = "no rule keeps this value in the graph yet"
_NO_MASKING = "no rule gives this operator a static shape yet"


def data_reads(
    statement: ast.stmt, expressions: list[ast.expr], function: Function, facts: Facts
) -> Iterator[Site]:
    """The break sites among a statement's own expressions, outermost first."""
    if isinstance(statement, ast.If | ast.While) and breaks_at(
        statement.test, function, statement, facts
    ):
        rule = LOOP if isinstance(statement, ast.While) else BRANCH
        yield _branch(rule, statement, statement.test, function)
        expressions = [e for e in expressions if e is not statement.test]
    for expression in expressions:
        yield from _expression(expression, statement, function, facts)


def _branch(rule: Rule, node: ast.stmt | ast.expr, test: ast.expr, function: Function) -> Site:
    what = "loop condition" if rule is LOOP else "branch"
    text = f"{what} on tensor data: `{ast.unparse(test)}`"
    statement = node if isinstance(node, ast.stmt) else function.module.statement_of(node)
    reason = None if isinstance(node, ast.If | ast.IfExp) else _NO_SELECTION
    if rule is LOOP:
        reason = _NO_LOOP
    return Site(rule, function, node, statement, text, reason)


def _expression(
    node: ast.AST, statement: ast.stmt, function: Function, facts: Facts
) -> Iterator[Site]:
    if isinstance(node, ast.Lambda):
        return
    test = _tested(node, statement, function, facts)
    if test is not None and isinstance(node, ast.expr):
        yield _branch(BRANCH, node, test, function)
        if isinstance(node, ast.IfExp):
            yield from _expression(node.body, statement, function, facts)
            yield from _expression(node.orelse, statement, function, facts)
        return
    site = (
        _ints(node, statement, function, facts)
        or _scalar(node, statement, function, facts)
        or _shape(node, statement, function, facts)
    )
    if site is not None:
        yield site
        return
    for child in ast.iter_child_nodes(node):
        yield from _expression(child, statement, function, facts)


def _tested(
    node: ast.AST, statement: ast.stmt, function: Function, facts: Facts
) -> ast.expr | None:
    """The operand whose truth evaluating `node` reads, if that reads tensor data."""
    tests: list[ast.expr] = []
    match node:
        case ast.IfExp(test=test):
            tests = [test]
        case ast.BoolOp(values=[*values, _]):
            tests = values
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            tests = [operand]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            tests = [condition for clause in node.generators for condition in clause.ifs]
    return next((t for t in tests if breaks_at(t, function, statement, facts)), None)


def _ints(node: ast.AST, statement: ast.stmt, function: Function, facts: Facts) -> Site | None:
    if not isinstance(node, ast.Call | ast.Subscript):
        return None
    for tensor in tensors_as_ints(facts.kinds, node, function, statement):
        what = "size or position" if isinstance(node, ast.Call) else "position"
        text = f"tensor as a {what}: `{ast.unparse(tensor)}`"
        return Site(BOUND, function, node, statement, text, _NO_LIFTING)
    return None


def _scalar(node: ast.AST, statement: ast.stmt, function: Function, facts: Facts) -> Site | None:
    if isinstance(node, ast.Call) and facts.module.qualified(node.func, function) in (
        "builtins.range",
    ):
        for bound in node.args:
            if facts.kinds.of(bound, function, statement).tag is Tag.TENSOR:
                text = f"tensor as a range bound: `{ast.unparse(bound)}`"
                return Site(BOUND, function, node, statement, text, _NO_LIFTING)
    if isinstance(node, ast.Call) and facts.kinds.is_scalar_read(node, function, statement):
        text = f"tensor read back into Python: `{ast.unparse(node)}`"
        return Site(SCALAR, function, node, statement, text, _NO_LIFTING)
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        container = facts.kinds.of(node.value, function, statement).tag
        index = facts.kinds.of(node.slice, function, statement).tag
        if container in (Tag.CONTAINER, Tag.STATIC) and index is Tag.TENSOR:
            text = f"tensor as the index of a Python sequence: `{ast.unparse(node)}`"
            return Site(BOUND, function, node, statement, text, _NO_LIFTING)
    return None


def _shape(node: ast.AST, statement: ast.stmt, function: Function, facts: Facts) -> Site | None:
    if isinstance(node, ast.Call):
        if facts.kinds.has_data_shape(node, function, statement):
            text = f"operator whose output shape depends on data: `{ast.unparse(node.func)}`"
            return Site(DYNAMIC_SHAPE, function, node, statement, text, _NO_MASKING)
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        if facts.kinds.is_mask_index(node, function, statement):
            text = f"boolean-mask index: `{ast.unparse(node)}`"
            return Site(DYNAMIC_SHAPE, function, node, statement, text, _NO_MASKING)
    return None
