"""[Defer]: output becomes a call that is deferred to the end of the graph."""

from __future__ import annotations

import ast

from graphmend.analyses.kind import DATA, Tag
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


def not_in_finally(site: Site, facts: Facts) -> str | None:
    """Whether a `finally` block runs is known only when what stands before it has run."""
    trys = site.function.cfg.enclosing_trys(site.statement)
    if any(part is TryPart.FINALLY for _, part in trys):
        return "it stands in a finally block"
    return None


def no_shown_data_fails_later(site: Site, facts: Facts) -> str | None:
    """Output of tensor data is there to explain a later failure; it must come before it."""
    shows = _shows_data(site.statement, site, facts)
    return nothing_fails_on_data_after(site, facts) if shows else None


def _shows_data(node: ast.AST, site: Site, facts: Facts) -> bool:
    """Whether a statement reads tensor data, and not only shapes, dtypes and the like."""

    def tag(expression: ast.expr) -> Tag:
        return facts.kinds.of(expression, site.function, site.statement).tag

    match node:
        case ast.Name(ctx=ast.Load()):
            return tag(node) in DATA
        case ast.Call(func=ast.Name(id="len" | "type")):
            return False
        case (
            ast.Attribute(value=ast.Name() as base)
            | ast.Call(
                func=ast.Attribute(value=ast.Name() as base),
                args=[] | [ast.Constant()],
                keywords=[],
            )
        ):
            if tag(base) is Tag.TENSOR and tag(node) is Tag.STATIC:
                return False
    return any(_shows_data(child, site, facts) for child in ast.iter_child_nodes(node))


CHECKS: tuple[Check, ...] = (
    not_scripted,
    not_redirected,
    not_in_finally,
    arguments_are_pure,
    warnings_differ,
    no_shown_data_fails_later,
)
