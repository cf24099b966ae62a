"""Calls that show their caller's place: one frame more lies between once they are outlined."""

from __future__ import annotations

import ast

import libcst as cst

from graphmend.detect.calls import effect_call
from graphmend.facts import Facts
from graphmend.ir.module import Function
from graphmend.rewrite.layout import ast_twin
from graphmend.rewrite.refusal import Refused

_WARN_PARAMETERS = ("message", "category", "stacklevel", "source")


def shift_stacklevels(
    node: cst.CSTNode, statement: ast.stmt, function: Function, facts: Facts
) -> cst.CSTNode:
    """Raise by one the `stacklevel` of every warning and log record in an outlined statement."""
    changed = node.visit(_Shift(statement, function, facts))
    assert isinstance(changed, cst.CSTNode)
    return changed


class _Shift(cst.CSTTransformer):
    def __init__(self, statement: ast.stmt, function: Function, facts: Facts) -> None:
        super().__init__()
        self._where = (function, statement, facts)
        self._module = function.module.cst

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        expression = ast_twin(original_node, self._module)
        effect = None if expression is None else effect_call(expression, *self._where)
        if effect is None or not effect.stacklevel:
            return updated_node
        return _shifted(updated_node, positional=effect.verb == "warn")


def _shifted(call: cst.Call, positional: bool) -> cst.Call:
    arguments = list(call.args)
    for index, argument in enumerate(arguments):
        if argument.star:
            raise Refused("its arguments are unpacked; they may hold the stack level")
        keyword = argument.keyword.value if argument.keyword is not None else None
        if keyword == "skip_file_prefixes":
            raise Refused("the warning skips frames by their files")
        place = _WARN_PARAMETERS[index] if positional and keyword is None and index < 4 else None
        if "stacklevel" in (keyword, place):
            arguments[index] = argument.with_changes(value=_one_more(argument.value))
            return call.with_changes(args=arguments)
    level = cst.Arg(
        keyword=cst.Name("stacklevel"),
        value=cst.Integer("2"),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    return call.with_changes(args=_appended(call, arguments, level))


def _appended(call: cst.Call, arguments: list[cst.Arg], level: cst.Arg) -> list[cst.Arg]:
    """The new argument takes the layout of the others: a line of its own, a trailing comma."""
    if not arguments:
        return [level]
    last = arguments[-1]
    own_lines = isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace)
    before = call.whitespace_before_args if own_lines else cst.SimpleWhitespace(" ")
    separator = cst.Comma(whitespace_after=before)
    return [
        *arguments[:-1],
        last.with_changes(comma=separator, whitespace_after_arg=cst.SimpleWhitespace("")),
        level.with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg),
    ]


def _one_more(value: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(value, cst.Integer) and value.evaluated_value >= 1:
        return cst.Integer(str(value.evaluated_value + 1))
    raise Refused("its stack level is not a positive constant")
