"""What the body of a branch does, as far as moving it out of the function is concerned."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graphmend.detect.calls import EffectCall, effect_call
from graphmend.facts import Facts
from graphmend.ir.module import Function


@dataclass(frozen=True, slots=True)
class Body:
    """A body that only raises or writes output.

    `raises`: it holds a raise or an assert. `always_raises`: no path leaves it otherwise.
    `effects`: the output calls in it, in program order.
    """

    raises: bool
    always_raises: bool
    effects: tuple[EffectCall, ...]

    @property
    def refusal(self) -> str | None:
        """Why the output in it cannot be moved."""
        return next((effect.refusal for effect in self.effects if effect.refusal), None)

    @property
    def assumption(self) -> str | None:
        """What moving it rests on, in one sentence over all the output in it."""
        assumed = dict.fromkeys(e.assumption for e in self.effects if e.assumption)
        return " and ".join(assumed) or None


def movable_body(statements: Sequence[ast.stmt], function: Function, facts: Facts) -> Body | None:
    """The summary of a body made only of raises, output calls, and what prepares their arguments.

    None where any statement does something else.
    """
    raises = always = False
    effects: list[EffectCall] = []
    for statement in statements:
        inner = _movable_statement(statement, function, facts)
        if inner is None:
            return None
        raises |= inner.raises
        always |= inner.always_raises
        effects.extend(inner.effects)
    return Body(raises, always, tuple(effects))


def binds_for_later(statement: ast.If, function: Function) -> bool:
    """Whether a branch binds names that are read after it: it does more than check."""
    bound = {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return bool(bound & function.flow.live_after(statement))


def _movable_statement(statement: ast.stmt, function: Function, facts: Facts) -> Body | None:
    match statement:
        case ast.Raise():
            return Body(True, True, ())
        case ast.Assert():
            return Body(True, False, ())
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return Body(False, False, ())
        case ast.Expr(value=value):
            effect = effect_call(value, function, statement, facts)
            return None if effect is None else Body(False, False, (effect,))
        case ast.Assign(targets=[ast.Name() | ast.Tuple()] as targets, value=value):
            plain = all(isinstance(t, ast.Name) for t in _targets(targets[0]))
            pure = facts.effects.of_expr(value, function, statement).pure
            return Body(False, False, ()) if plain and pure else None
        case ast.AugAssign(target=ast.Name()):
            changed = facts.effects.of_statement(statement, function)
            outside = any(write.outside for write in changed.writes)
            movable = replace(changed, writes=frozenset()).pure and not outside
            return Body(False, False, ()) if movable else None
        case ast.If(body=body, orelse=orelse):
            then = movable_body(body, function, facts)
            other = movable_body(orelse, function, facts)
            if then is None or other is None:
                return None
            return Body(
                then.raises or other.raises,
                bool(orelse) and then.always_raises and other.always_raises,
                then.effects + other.effects,
            )
    return None


def _targets(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from _targets(element)
    else:
        yield target
