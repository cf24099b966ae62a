"""[Defer]: output becomes a call that is deferred to the end of the graph."""

from __future__ import annotations

import ast

from graphmend.detect.site import Site
from graphmend.facts import Facts
from graphmend.findings import Category
from graphmend.rewrite.checks import (
    Check,
    arguments_are_pure,
    first_reason,
    not_scripted,
    nothing_fails_on_data_after,
)
from graphmend.rewrite.names import Names
from graphmend.rewrite.outline import Outline, outline
from graphmend.rewrite.refusal import Refused

_VERBS = {"GM201": "print", "GM202": "log", "GM203": "warn", "GM204": "notice"}
# Contexts that do not change what output does; torch's own are no business of print and logging.
_HARMLESS = ("torch.", "contextlib.nullcontext")


def applies(site: Site) -> bool:
    """[Defer] is for output."""
    return site.rule.category is Category.LOGGING


def rewrite(site: Site, facts: Facts, names: Names, decorators: dict[str, str]) -> Outline:
    """The output outlined into a deferred effect. Raises `Refused` with the reason not to."""
    reason = site.refusal or first_reason(CHECKS, site, facts)
    if reason is not None:
        raise Refused(reason)
    return outline(site, facts, names, _VERBS[site.rule.code], decorators["deferred_effect"])


def not_redirected(site: Site, facts: Facts) -> str | None:
    """A context manager around output may catch, redirect or filter it, or read it back."""
    for context in site.function.cfg.enclosing_withs(site.statement):
        for item in context.items:
            expression = item.context_expr
            called = expression.func if isinstance(expression, ast.Call) else expression
            name = facts.module.qualified(called, site.function)
            if name is None or not name.startswith(_HARMLESS):
                return f"it stands inside `with {ast.unparse(expression)}`"
    return None


def no_shown_data_fails_later(site: Site, facts: Facts) -> str | None:
    """Output of tensor data is there to explain a later failure; it must come before it."""
    where = (site.function, site.statement)
    shows = any(
        facts.kinds.of(node, *where).reads_data
        for node in ast.walk(site.statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )
    return nothing_fails_on_data_after(site, facts) if shows else None


CHECKS: tuple[Check, ...] = (
    not_scripted,
    not_redirected,
    arguments_are_pure,
    no_shown_data_fails_later,
)
