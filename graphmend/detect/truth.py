"""Tests whose truth is tensor data, and where that data becomes a Python value."""

from __future__ import annotations

import ast

from graphmend.analyses.kind import Tag
from graphmend.facts import Facts
from graphmend.ir.cfg import Sentinel
from graphmend.ir.module import Function

_TENSORS = {Tag.TENSOR, Tag.NUMPY, Tag.MIXED}


def breaks_at(test: ast.expr, function: Function, statement: ast.stmt, facts: Facts) -> bool:
    """Whether testing `test` breaks the graph here.

    A parameter that is given a number read from a tensor is a Python value already: the break
    is where the caller reads it.
    """
    if not facts.kinds.truth_reads_data(test, function, statement):
        return False
    return any(
        facts.kinds.of(node, function, statement).reads_data
        for node in ast.walk(test)
        if isinstance(node, ast.expr) and not _only_given(node, function, statement, facts)
    )


def _only_given(node: ast.expr, function: Function, statement: ast.stmt, facts: Facts) -> bool:
    """Whether all numbers from tensors that an expression is made of are parameters."""
    tags = {
        part: facts.kinds.of(part, function, statement).tag
        for part in ast.walk(node)
        if isinstance(part, ast.Name | ast.Attribute | ast.Subscript)
    }
    if any(isinstance(part, ast.Call) for part in ast.walk(node)) or _TENSORS & set(tags.values()):
        return False
    return all(
        tag is not Tag.SCALAR or _is_parameter(part.id, function, statement)
        for part, tag in tags.items()
        if isinstance(part, ast.Name)
    )


def _is_parameter(name: str, function: Function, statement: ast.stmt) -> bool:
    reaching = function.flow.definitions_reaching(statement, name)
    return name in function.params and all(d.stmt is Sentinel.ENTRY for d in reaching)
