"""[Where]: a branch on tensor data becomes a selection between its sides."""

from __future__ import annotations

import ast
from dataclasses import replace

from graphmend.detect.site import BRANCH, Site
from graphmend.facts import Facts
from graphmend.ir.module import Function, Module
from graphmend.rewrite import joins, sides
from graphmend.rewrite.caches import cached_attributes
from graphmend.rewrite.checks import not_scripted
from graphmend.rewrite.movable import frame_reader, require_movable
from graphmend.rewrite.names import Names
from graphmend.rewrite.numbers import uses
from graphmend.rewrite.predicate import predicate
from graphmend.rewrite.refusal import Refused
from graphmend.rewrite.region import Continuation, continuation, region_of
from graphmend.rewrite.selection import Selection
from graphmend.rewrite.sides import Branch
from graphmend.rewrite.stores import stores_nothing_written_in_place
from graphmend.rewrite.where_plain import PlainSelection, plain_selection

CHECKS = (*sides.CHECKS, *joins.CHECKS, stores_nothing_written_in_place)


def applies(site: Site) -> bool:
    """[Where] is for if statements and conditional expressions."""
    return site.rule is BRANCH and isinstance(site.node, ast.If | ast.IfExp)


def rewrite(
    site: Site, facts: Facts, names: Names, runtime: dict[str, str]
) -> Selection | PlainSelection:
    """The branch as a selection. Raises `Refused` with the reason not to.

    In plain PyTorch where its operands are proven alike, else by the runtime, which decides.
    """
    function, node = site.function, site.node
    assert isinstance(node, ast.If | ast.IfExp)
    reason = site.refusal or not_scripted(site, facts)
    if reason is not None:
        raise Refused(reason)
    if isinstance(function.node, ast.AsyncFunctionDef):
        raise Refused("it stands in an asynchronous function")
    if (reader := frame_reader(function)) is not None:
        raise Refused(f"`{reader}` in the function would see the names that the fix binds")
    if any(isinstance(around, ast.JoinedStr) for around in facts.module.ancestors(node)):
        raise Refused("it stands inside an f-string")
    branch = _branch(site, facts)
    invertible = isinstance(node, ast.If) or branch.after is not None
    test = predicate(
        node.test,
        function,
        site.statement,
        facts,
        name_of=runtime.__getitem__,
        fresh=names.fresh,
        invertible=invertible,
    )
    for check in CHECKS:
        reason = check(branch)
        if reason is not None:
            raise Refused(reason)
    start, assumed = _start(node, facts.module), sides.assumption(branch)
    plain = plain_selection(site, start, facts) if assumed is None else None
    return plain or Selection(
        site=replace(site, assumption=assumed),
        start=start,
        predicate=test,
        select=runtime["select"],
        used_by=len(branch.after.statements) if branch.after is not None else 0,
        caches=tuple(sorted(branch.caches)),
    )


def _start(node: ast.If | ast.IfExp, module: Module) -> int:
    """Where the `if` of a statement, or an expression, begins."""
    start = module.offsets(node)[0]
    return start + 2 if module.source.text.startswith("elif", start) else start


def _branch(site: Site, facts: Facts) -> Branch:
    """The sides of a site, of statements or of one expression each."""
    node, function = site.node, site.function
    if isinstance(node, ast.If):
        region = region_of(node, function)
        numbers = {
            name
            for name, one, other in joins.named_values(region)
            if joins.are_python_values(one, other, function, facts)
        }
        after = _after(node, region.outputs or (), numbers, function, facts)
        caches = cached_attributes(region, function, facts)
        branch = Branch(site, facts, region, region.sides, after, caches)
    else:
        assert isinstance(node, ast.IfExp)
        values = (joins.Value(node.body, site.statement), joins.Value(node.orelse, site.statement))
        numbers = set()
        match site.statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is node:
                if joins.are_python_values(*values, function, facts):
                    numbers = {name}
        after = _after(site.statement, tuple(numbers), numbers, function, facts)
        branch = Branch(site, facts, None, (node.body, node.orelse), after, {})
    moved = branch.moved()
    for statement in branch.statements:
        require_movable(statement, function, moved)
    for side in branch.sides:
        if isinstance(side, ast.expr):
            require_movable(side, function)
    return branch


def _after(
    statement: ast.stmt,
    given: tuple[str, ...],
    numbers: set[str],
    function: Function,
    facts: Facts,
) -> Continuation | None:
    """What follows a branch that chooses numbers; None where it chooses none."""
    if not numbers:
        return None
    return continuation(statement, given, uses(statement, numbers, function, facts), function)
