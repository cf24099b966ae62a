"""Sites inside the sides of a branch: both sides run, so neither may break the graph."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

from graphmend.detect.site import BRANCH, LOGGER, ONCE, Site
from graphmend.ir.module import Module
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
    start, end = _span(selection, module)
    for site in sites:
        if not start < module.offsets(site.node)[0] < end:
            continue
        if site in stays:
            return f"line {site.node.lineno} still breaks the graph on one side: {stays[site]}"
        if site.rule in (LOGGER, ONCE):
            return f"the log record of line {site.node.lineno} shows the function it stands in"
    return None


def _span(selection: Selection | PlainSelection, module: Module) -> tuple[int, int]:
    site = selection.site
    start, end = module.offsets(site.node)
    if selection.used_by:
        last = following(site.statement, site.function)[selection.used_by - 1]
        end = module.offsets(last)[1]
    elif isinstance(site.node, ast.If):
        end = module.offsets(region_of(site.node, site.function).last)[1]
    return start, end
