"""Output: print, logging, warnings, unconditional or behind a test on tensor data."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from graphmend.detect.bodies import binds_for_later, movable_body
from graphmend.detect.calls import EffectCall, asks_level, effect_call
from graphmend.detect.site import Site
from graphmend.detect.truth import breaks_at
from graphmend.facts import Facts
from graphmend.ir.module import Function


def output_statement(statement: ast.stmt, function: Function, facts: Facts) -> Site | None:
    """The output site that `statement` is as a whole, if it is one."""
    match statement:
        case ast.Expr(value=value):
            effect = effect_call(value, function, statement, facts)
            return None if effect is None else _site(effect, function, statement)
        case ast.If(test=test):
            body = movable_body([statement], function, facts)
            if body is None or body.raises or not body.effects:
                return None
            on_data = breaks_at(test, function, statement, facts)
            if on_data and binds_for_later(statement, function):
                return None
            if on_data or asks_level(test, function, statement, facts):
                refusing = next((e for e in body.effects if e.refusal), body.effects[0])
                return replace(_site(refusing, function, statement), assumption=body.assumption)
    return None


def output_in_expression(
    statement: ast.stmt, expressions: list[ast.expr], function: Function, facts: Facts
) -> Iterator[Site]:
    """Output calls whose value is used; they cannot be moved."""
    for expression in expressions:
        for node in ast.walk(expression):
            if isinstance(node, ast.Call):
                effect = effect_call(node, function, statement, facts)
                if effect is not None:
                    yield Site(
                        effect.rule,
                        function,
                        node,
                        statement,
                        _message(effect),
                        "its value is used",
                    )


def _site(effect: EffectCall, function: Function, statement: ast.stmt) -> Site:
    return Site(
        effect.rule,
        function,
        effect.call,
        statement,
        _message(effect),
        effect.refusal,
        effect.assumption,
    )


def _message(effect: EffectCall) -> str:
    noun = {"print": "output", "log": "log record", "warn": "warning"}[effect.verb]
    return f"{noun} in a traced function: `{ast.unparse(effect.call.func)}(..)`"
