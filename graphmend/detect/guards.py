"""Validation guards: an `if` on tensor data that raises, an assert on it, a call that checks it."""

from __future__ import annotations

import ast

from graphmend.analyses.kind import Tag
from graphmend.analyses.untraced import DEFERRED
from graphmend.detect.bodies import binds_for_later, movable_body
from graphmend.detect.site import ASSERT, CHECK_CALL, GUARD, Site
from graphmend.detect.truth import breaks_at
from graphmend.facts import Facts
from graphmend.ir.members import decorator_names
from graphmend.ir.module import Function

_TORCH_CHECKS = frozenset(
    f"torch.{name}"
    for name in (
        "_check",
        "_check_index",
        "_check_not_implemented",
        "_check_tensor_all",
        "_check_type",
        "_check_value",
    )
)


def guard(statement: ast.stmt, function: Function, facts: Facts) -> Site | None:
    """The validation guard that `statement` is, if it is one and reads tensor data."""
    match statement:
        case ast.If():
            return _raising_branch(statement, function, facts)
        case ast.Assert(test=test) if breaks_at(test, function, statement, facts):
            text = f"assert on tensor data: `{ast.unparse(test)}`"
            return Site(ASSERT, function, statement, statement, text)
        case ast.Expr(value=ast.Call() as call):
            return _check_call(call, function, statement, facts)
    return None


def _raising_branch(statement: ast.If, function: Function, facts: Facts) -> Site | None:
    if not breaks_at(statement.test, function, statement, facts):
        return None
    text = f"guard on tensor data: `{ast.unparse(statement.test)}`"
    whole = movable_body([statement], function, facts)
    if whole is not None:
        sides = (statement.body, statement.orelse)
        guards = any(_always_raises(side, function, facts) for side in sides)
        if not whole.raises or not guards and binds_for_later(statement, function):
            return None
        return Site(GUARD, function, statement, statement, text, whole.refusal, whole.assumption)
    if _always_raises(statement.body, function, facts):
        reason = "the other branch of the guard does more than raise"
        return Site(GUARD, function, statement, statement, text, reason)
    if any(isinstance(s, ast.Raise) for s in statement.body):
        reason = "the guard does more than raise or write output"
        return Site(GUARD, function, statement, statement, text, reason)
    return None


def _always_raises(body: list[ast.stmt], function: Function, facts: Facts) -> bool:
    summary = movable_body(body, function, facts)
    return summary is not None and summary.always_raises


def _check_call(
    call: ast.Call, function: Function, statement: ast.stmt, facts: Facts
) -> Site | None:
    """A call, made as a statement, of a function that only checks, whose arguments read data."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    text = f"check of tensor data: `{ast.unparse(call.func)}(..)`"
    name = facts.module.qualified(call.func, function)
    if name in _TORCH_CHECKS:
        if not arguments:
            return None
        reads = facts.kinds.reads_data(arguments[0], function, statement)
        if name == "torch._check_tensor_all":
            reads = True  # it reads the tensor itself
        return Site(CHECK_CALL, function, call, statement, text) if reads else None
    callee = facts.project.callee(call, function)
    if not isinstance(callee, Function) or not _only_checks(callee, facts):
        return None
    reads = any(facts.kinds.reads_data(a, function, statement) for a in arguments)
    if not reads:
        given = any(facts.kinds.of(a, function, statement).tag is Tag.TENSOR for a in arguments)
        reads = given and _breaks_in_place(callee, facts)
    return Site(CHECK_CALL, function, call, statement, text) if reads else None


def _only_checks(callee: Function, facts: Facts) -> bool:
    """Whether a function does nothing but raise, or return without having done anything."""
    if DEFERRED & set(decorator_names(callee)):
        return False  # mended already
    effects = facts.effects.of_function(callee)
    changes = effects.writes or effects.random or effects.unknown or effects.impure
    return effects.raises and not changes


def _breaks_in_place(callee: Function, facts: Facts) -> bool:
    """Whether a checking function holds a test on tensor data that is no guard by itself.

    Such a test decides what the function returns as well, so only a call whose result is not
    used can be deferred, as a whole.
    """
    return any(
        isinstance(inner, ast.If)
        and breaks_at(inner.test, callee, inner, facts)
        and ((found := guard(inner, callee, facts)) is None or found.refusal is not None)
        for inner in callee.statements
    )
