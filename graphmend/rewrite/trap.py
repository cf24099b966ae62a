"""[Trap]: a guard that raises becomes a check that is deferred to the end of the graph."""

from __future__ import annotations

import ast

from graphmend.analyses.enclosing import finally_around
from graphmend.analyses.handlers import caught_by
from graphmend.detect.site import Site
from graphmend.facts import Facts
from graphmend.findings import Category
from graphmend.ir.cfg import TryPart
from graphmend.rewrite.checks import (
    Check,
    arguments_are_pure,
    first_reason,
    not_scripted,
    nothing_fails_on_data_after,
    warnings_differ,
)
from graphmend.rewrite.names import Names
from graphmend.rewrite.outline import Outline, outline
from graphmend.rewrite.refusal import Refused


def applies(site: Site) -> bool:
    """[Trap] is for validation guards."""
    return site.rule.category is Category.GUARD


def rewrite(site: Site, facts: Facts, names: Names, decorators: dict[str, str]) -> Outline:
    """The guard outlined into a deferred check. Raises `Refused` with the reason not to."""
    reason = site.refusal or first_reason(CHECKS, site, facts)
    if reason is not None:
        raise Refused(reason)
    return outline(site, facts, names, "check", decorators["deferred_check"])


def not_caught(site: Site, facts: Facts) -> str | None:
    """A guard whose exception is caught inside the traced region is control flow."""
    for exception in _raised(site.statement):
        caught = caught_by(facts.project, site.function, exception, site.statement)
        if caught is not None:
            return str(caught)
    return None


def makes_its_exception(site: Site, facts: Facts) -> str | None:
    """An exception that the traced function made before the guard cannot be handed on."""
    for node in ast.walk(site.statement):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name):
            name, flow = node.exc.id, site.function.flow
            reaching = flow.definitions_reaching(site.statement, name)
            if any(isinstance(d.value, ast.Call) for d in reaching):
                return f"the exception `{name}` is made before the guard"
    return None


def no_handlers_around(site: Site, facts: Facts) -> str | None:
    """Which of the handlers of a `try` takes a deferred exception is not known while tracing."""
    for block, part in site.function.cfg.enclosing_trys(site.statement):
        if part is TryPart.BODY and block.handlers:
            return f"the `try` on line {block.lineno} has handlers, which it would have to pass"
    return None


def nothing_shows_before_finally(site: Site, facts: Facts) -> str | None:
    """A `finally` block runs before a deferred exception leaves: nothing later may show there."""
    function = site.function
    around = finally_around(site.statement, function)
    if around is None:
        return None
    for later in function.cfg.reachable_after(site.statement):
        effects = facts.effects.of_statement(later, function)
        if effects.logs or any(write.outside for write in effects.writes):
            return f"line {later.lineno} may come before it, as it stands in try/finally"
    return None


def no_writes_on_both_sides(site: Site, facts: Facts) -> str | None:
    """Python-side writes are replayed in one go: all before the deferred checks or all after."""
    function, statement = site.function, site.statement
    before = after = False
    reachable = function.cfg.reachable_after(statement)
    for other in function.statements:
        if other is statement or not facts.effects.writes_python_state(other, function):
            continue
        if other in reachable:
            after = True
        if statement in function.cfg.reachable_after(other):
            before = True
    if before and after:
        return "attributes or containers are written both before and after the guard"
    return None


def _raised(statement: ast.stmt) -> list[ast.expr | None]:
    """The exceptions a guard can raise; None for one that is not known."""
    raised: list[ast.expr | None] = []
    for node in ast.walk(statement):
        if isinstance(node, ast.Raise):
            raised.append(node.exc)
        elif isinstance(node, ast.Assert):
            raised.append(ast.Name("AssertionError", ast.Load()))
    return raised or [None]


CHECKS: tuple[Check, ...] = (
    not_scripted,
    not_caught,
    no_handlers_around,
    makes_its_exception,
    nothing_shows_before_finally,
    arguments_are_pure,
    warnings_differ,
    no_writes_on_both_sides,
    nothing_fails_on_data_after,
)
