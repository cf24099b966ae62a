"""Sites inside the sides of a branch: both sides run, so neither may break the graph."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from graphmend.detect.site import BRANCH, LOGGER, ONCE, Site
from graphmend.ir.module import Module
from graphmend.rewrite.refusal import Refused
from graphmend.rewrite.region import following, region_of
from graphmend.rewrite.selection import Selection
from graphmend.rewrite.where_plain import PlainSelection


def innermost_first(sites: Sequence[Site], module: Module) -> list[Site]:
    """The sites in an order in which every branch comes after the sites that its sides hold.

    What follows an early return may be part of its region, so the later of two branches comes
    first.
    """
    ordered = sorted(sites, key=lambda site: module.offsets(site.node)[0])
    branches = [site for site in ordered if site.rule is BRANCH]
    return [site for site in ordered if site.rule is not BRANCH] + branches[::-1]


def obstacle(
    selection: Selection | PlainSelection,
    sites: Collection[Site],
    stays: Mapping[Site, str],
    module: Module,
) -> str | None:
    """Why a selection cannot be made, given sites and the reasons of those that stay."""
    for site in _inside(selection, sites, module):
        if site in stays:
            return f"line {site.node.lineno} still breaks the graph on one side: {stays[site]}"
    return None


def showing_function(
    selection: Selection | PlainSelection, sites: Collection[Site], module: Module
) -> Selection | PlainSelection:
    """The selection, such that log records in its sides show the function that they stand in.

    A record shows the name of its function, so the side with the records is called as the function
    is. Raises `Refused` where two of the sides would have to be.
    """
    records = [s for s in _inside(selection, sites, module) if s.rule in (LOGGER, ONCE)]
    if not records:
        return selection
    names = {_part(selection, module.offsets(site.node)[0], module) for site in records}
    function, shown = selection.site.function, names.pop()
    if names or isinstance(selection, PlainSelection):
        raise Refused("log records on both sides show the function that they stand in")
    if any(_names(node, function.name) for node in ast.walk(function.node)):
        raise Refused("a log record shows the function that it stands in, whose name is in use")
    return replace(selection, words=replace(selection.words, **{shown: function.name}))


def _names(node: ast.AST, name: str) -> bool:
    """Whether a node reads, binds or declares a name."""
    match node:
        case ast.Name(id=other):
            return other == name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return name in names
    return False


def _part(selection: Selection | PlainSelection, place: int, module: Module) -> str:
    """Which of the functions that a selection makes holds what is at `place` in the text."""
    node = selection.site.node
    if place > module.offsets(node)[1]:
        return "rest" if selection.used_by else "otherwise"
    assert isinstance(node, ast.If)
    return "then" if place < module.offsets(node.body[-1])[1] else "otherwise"


def _inside(
    selection: Selection | PlainSelection, sites: Collection[Site], module: Module
) -> list[Site]:
    """The sites on the sides of a selection."""
    start, end = _span(selection, module)
    return [site for site in sites if start < module.offsets(site.node)[0] < end]


def _span(selection: Selection | PlainSelection, module: Module) -> tuple[int, int]:
    site = selection.site
    start, end = module.offsets(site.node)
    if selection.used_by:
        last = following(site.statement, site.function)[selection.used_by - 1]
        end = module.offsets(last)[1]
    elif isinstance(site.node, ast.If):
        end = module.offsets(region_of(site.node, site.function).last)[1]
    return start, end
