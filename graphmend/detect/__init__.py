"""The detector: from a traced function to its break sites."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from graphmend.analyses.selections import is_side
from graphmend.detect.compiling import traced_side
from graphmend.detect.data_reads import data_reads
from graphmend.detect.guards import guard
from graphmend.detect.output import output_in_expression, output_statement
from graphmend.detect.site import Site
from graphmend.facts import Facts
from graphmend.ir.module import Function

__all__ = ["Site", "find_sites"]


def find_sites(function: Function, facts: Facts) -> Iterator[Site]:
    """The break sites of one traced function, in program order.

    A statement that is a site as a whole (a guard, an output call) is not looked into further,
    and nested functions are visited on their own.
    """
    if isinstance(function.node, ast.Lambda) or is_side(function):
        return
    if facts.project.is_cached(function):
        # What a cached function does, it does once: its calls are the sites.
        return
    yield from _visit(function.node.body, function, facts)


def _visit(statements: Sequence[ast.stmt], function: Function, facts: Facts) -> Iterator[Site]:
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        side = traced_side(statement, function) if isinstance(statement, ast.If) else None
        if side is not None:
            yield from _visit(side, function, facts)
            continue
        whole = guard(statement, function, facts) or output_statement(statement, function, facts)
        if whole is not None:
            yield whole
            if isinstance(statement, ast.If) and whole.refusal is not None:
                yield from _visit(statement.orelse, function, facts)
            continue
        own = list(_own_expressions(statement))
        yield from output_in_expression(statement, own, function, facts)
        yield from data_reads(statement, own, function, facts)
        for body in _bodies(statement):
            yield from _visit(body, function, facts)


def _own_expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions a statement evaluates itself, without those of the statements in it."""
    for _, value in ast.iter_fields(statement):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.expr):
                yield item
            elif isinstance(item, ast.withitem):
                yield item.context_expr


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for _, value in ast.iter_fields(statement):
        if isinstance(value, list) and value:
            if isinstance(value[0], ast.stmt):
                yield value
            elif isinstance(value[0], ast.ExceptHandler | ast.match_case):
                for part in value:
                    yield part.body
