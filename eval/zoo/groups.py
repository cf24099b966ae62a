"""What rows of the zoo add up to: variants by outcome, breaks by site, refusals by reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(slots=True)
class Site:
    """A place that ends graphs: the architectures that it does so in, before and after mending."""

    path: str
    line: int
    category: str
    function: str
    reason: str
    before: set[str] = field(default_factory=set)
    after: set[str] = field(default_factory=set)
    refused: str | None = None


def variants(rows: Iterable[Json], variant: str) -> Iterator[tuple[str, Json]]:
    """The name of each architecture for which the variant was asked, and what came of it."""
    return ((row["name"], row["variants"][variant]) for row in rows if variant in row["variants"])


def measured(rows: Iterable[Json]) -> Iterator[tuple[str, Json]]:
    """Every variant that ran, with the name of its architecture."""
    for row in rows:
        yield from ((row["name"], one) for one in row["variants"].values() if "error" not in one)


def outcome(one: Json) -> str:
    """What became of a variant: one word of OUTCOMES."""
    if "error" in one:
        return "not built"
    if one["before"]["fullgraph"]:
        return "no break"
    after = one["after"]
    if after is None:
        return "mended arm failed"
    if after["fullgraph"]:
        return "mended whole"
    left, there = total(after), total(one["before"])
    return "fewer breaks" if left < there else "as before" if left == there else "more breaks"


OUTCOMES = (
    "no break",
    "mended whole",
    "fewer breaks",
    "as before",
    "more breaks",
    "mended arm failed",
    "not built",
)


def total(counts: Json) -> int:
    """Breaks as published: graphs of the first call minus one."""
    return max(0, int(counts["breaks"]))


def sites(rows: Sequence[Json]) -> list[Site]:
    """Every place that ended a graph, those first that cost most architectures."""
    found: dict[tuple[str, int, str], Site] = {}
    for name, one in measured(rows):
        for arm in ("before", "after"):
            for site in (one[arm] or {}).get("sites", []):
                key = (site["path"], site["line"], site["category"])
                known = found.setdefault(key, Site(*key, site["function"], site["reason"]))
                (known.before if arm == "before" else known.after).add(name)
                known.refused = known.refused or site.get("refused")
    return sorted(found.values(), key=lambda s: (-len(s.before), -len(s.after), s.path, s.line))


def categories(rows: Sequence[Json]) -> dict[str, tuple[int, int, int, int]]:
    """By category: sites before and after, architectures before and after."""
    found: dict[str, list[Site]] = {}
    for site in sites(rows):
        found.setdefault(site.category, []).append(site)
    return {
        category: (
            sum(bool(s.before) for s in group),
            sum(bool(s.after) for s in group),
            len(set().union(*(s.before for s in group))),
            len(set().union(*(s.after for s in group))),
        )
        for category, group in sorted(found.items())
    }


def refusals(rows: Sequence[Json]) -> list[tuple[str, int, int]]:
    """Why sites that still break were refused: the reason, sites, architectures."""
    found: dict[str, list[Site]] = {}
    for site in sites(rows):
        if site.after:
            reason = site.refused or "not reported by graphmend"
            found.setdefault(reason, []).append(site)
    counted = [(r, len(g), len(set().union(*(s.after for s in g)))) for r, g in found.items()]
    return sorted(counted, key=lambda entry: (-entry[2], -entry[1], entry[0]))
