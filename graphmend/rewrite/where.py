"""[Where]: a branch on tensor data becomes a selection between its sides."""

from __future__ import annotations

import ast

from graphmend.detect.site import BRANCH, Site
from graphmend.facts import Facts
from graphmend.rewrite import joins, sides
from graphmend.rewrite.caches import cached_attributes
from graphmend.rewrite.checks import not_scripted
from graphmend.rewrite.names import Names
from graphmend.rewrite.predicate import predicate
from graphmend.rewrite.refusal import Refused
from graphmend.rewrite.region import region_of, require_movable
from graphmend.rewrite.selection import Selection
from graphmend.rewrite.sides import Branch

CHECKS = (*sides.CHECKS, *joins.CHECKS)


def applies(site: Site) -> bool:
    """[Where] is for if statements and conditional expressions."""
    return site.rule is BRANCH and isinstance(site.node, ast.If | ast.IfExp)


def rewrite(site: Site, facts: Facts, names: Names, runtime: dict[str, str]) -> Selection:
    """The branch as a selection. Raises `Refused` with the reason not to."""
    function, node = site.function, site.node
    assert isinstance(node, ast.If | ast.IfExp)
    reason = site.refusal or not_scripted(site, facts)
    if reason is not None:
        raise Refused(reason)
    if isinstance(function.node, ast.AsyncFunctionDef):
        raise Refused("it stands in an asynchronous function")
    test = predicate(node.test, function, site.statement, facts, runtime.__getitem__)
    branch = _branch(site, facts)
    for check in CHECKS:
        reason = check(branch)
        if reason is not None:
            raise Refused(reason)
    return Selection(
        site=site,
        start=facts.module.offsets(node)[0],
        predicate=test,
        select=runtime["select"],
        caches=tuple(sorted(branch.caches)),
    )


def _branch(site: Site, facts: Facts) -> Branch:
    """The sides of a site, of statements or of one expression each."""
    node, function = site.node, site.function
    if isinstance(node, ast.If):
        region = region_of(node, function)
        for statement in (s for side in region.sides for s in side):
            require_movable(statement, function)
        caches = cached_attributes(region, function, facts)
        return Branch(site, facts, region, region.sides, caches)
    assert isinstance(node, ast.IfExp)
    for side in (node.body, node.orelse):
        require_movable(side, function)
    return Branch(site, facts, None, (node.body, node.orelse), {})
