"""Legality checks that more than one rewriter needs. Each returns a reason to refuse, or None."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from graphmend.analyses.handlers import scripted
from graphmend.detect.calls import LEVEL_METHODS, effect_call
from graphmend.detect.guards import guard
from graphmend.detect.site import CHECK_CALL, WARNING, Site
from graphmend.detect.truth import breaks_at
from graphmend.facts import Facts

Check = Callable[[Site, Facts], str | None]


def first_reason(checks: tuple[Check, ...], site: Site, facts: Facts) -> str | None:
    """The first reason among the checks' answers."""
    return next((reason for check in checks if (reason := check(site, facts))), None)


def not_scripted(site: Site, facts: Facts) -> str | None:
    """TorchScript compiles the source itself and knows nothing of deferred functions."""
    if scripted(facts.project, site.function):
        return "the code is also compiled by torch.jit.script"
    return None


def arguments_are_pure(site: Site, facts: Facts) -> str | None:
    """What a message shows must not depend on when it is asked, nor change anything."""
    where = (site.function, site.statement)
    for call in _calls(site.statement):
        if effect_call(call, *where, facts) is not None or _is_exception(call, site):
            continue
        if isinstance(call.func, ast.Attribute) and call.func.attr in LEVEL_METHODS:
            continue
        name = ast.unparse(call.func)
        effects = facts.effects.of_expr(call, *where)
        if effects.impure:
            return f"`{name}(..)` is impure: its value depends on when it is called"
        if effects.writes or effects.random or effects.logs:
            return f"`{name}(..)` has an effect of its own"
        if effects.unknown:
            return f"`{name}(..)` is not known to be free of effects"
    return None


def warnings_differ(site: Site, facts: Facts) -> str | None:
    """All warnings of a moved statement come from the line of its call, and Python shows a text
    once a line: two that may be equal would be shown as one."""
    texts: list[str | None] = []
    for call in _calls(site.statement):
        effect = effect_call(call, site.function, site.statement, facts)
        if effect is not None and effect.rule is WARNING:
            first = call.args[0] if call.args else None
            is_text = isinstance(first, ast.Constant) and isinstance(first.value, str)
            texts.append(ast.unparse(first) if is_text and first is not None else None)
    if len(texts) > 1 and (None in texts or len(set(texts)) < len(texts)):
        return "two of its warnings may be equal, and would come from the same line"
    return None


def nothing_fails_on_data_after(site: Site, facts: Facts) -> str | None:
    """A later operator that fails on data would fail before what is deferred past it."""
    function = site.function
    inside = set(ast.walk(site.statement))
    for later in sorted(function.cfg.reachable_after(site.statement), key=_place):
        if later in inside or _comes_after_a_break(later, site, facts):
            continue
        failing = facts.effects.data_failure(later, function)
        if failing is not None:
            return f"`{failing}` on line {later.lineno} can fail on data, before what is deferred"
    return None


def _comes_after_a_break(later: ast.stmt, site: Site, facts: Facts) -> bool:
    """Whether a later statement is a check, or stands behind a test on tensor data.

    Mended, it is deferred too, in order; in place, the graph ends before it.
    """
    function = site.function
    found = guard(later, function, facts) if isinstance(later, ast.Expr) else None
    if found is not None and found.rule is CHECK_CALL and found.refusal is None:
        return True
    shared = set(function.module.ancestors(site.statement))
    return any(
        isinstance(around, ast.If) and breaks_at(around.test, function, around, facts)
        for around in function.module.ancestors(later)
        if around not in shared
    )


def _place(statement: ast.stmt) -> tuple[int, int]:
    return statement.lineno, statement.col_offset


def _calls(statement: ast.stmt) -> Iterator[ast.Call]:
    return (node for node in ast.walk(statement) if isinstance(node, ast.Call))


def _is_exception(call: ast.Call, site: Site) -> bool:
    """Whether a call only makes the exception that the statement raises."""
    return any(
        isinstance(node, ast.Raise) and node.exc is call for node in ast.walk(site.statement)
    )
