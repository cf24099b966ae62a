"""`python -m eval compare OLD NEW`: which rows of two results got better, and which got worse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is to be compared of a row: breaks that are left, fullgraph, equality, recompiles."""

    failed: bool
    equal: bool
    breaks: int
    fullgraph: bool
    recompiles: int


def run(old: Path, new: Path) -> int:
    """Print what changed from one file of JSON lines to the other; 1 where a row got worse."""
    before, after = outcomes(old), outcomes(new)
    worse = 0
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            print(f"{name}: only in {new if name in after else old}")
            continue
        lost, gained = changes(before[name], after[name])
        worse += bool(lost)
        for verdict, found in (("worse", lost), ("better", gained)):
            if found:
                print(f"{name}: {verdict}: {', '.join(found)}")
    shared = before.keys() & after.keys()
    print(f"{len(shared)} rows compared, {worse} worse")
    return 1 if worse else 0


def outcomes(path: Path) -> dict[str, Outcome]:
    """The outcome of every row in a results file of the table or of the zoo, by name."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [line for line in lines if line.get("kind") != "run"]
    return dict(sorted(pair for row in rows for pair in _named(row)))


def _named(row: Json) -> Iterator[tuple[str, Outcome]]:
    if "variants" not in row:
        yield row["name"], _outcome(row, row["equal"], bool(row["failures"]))
        return
    for variant, found in row["variants"].items():
        aspects = [v for arm in found.get("agreement", {}).values() for v in arm.values()]
        failed = bool(found.get("error") or found.get("mended_error"))
        yield f"{row['name']} ({variant})", _outcome(found, all(v["ok"] for v in aspects), failed)


def _outcome(row: Json, equal: bool, failed: bool) -> Outcome:
    counts = row.get("after") or row.get("before")
    if not counts:
        return Outcome(True, False, 0, False, 0)
    return Outcome(
        failed, equal, counts["breaks"], bool(counts["fullgraph"]), counts.get("recompiles", 0)
    )


def changes(old: Outcome, new: Outcome) -> tuple[list[str], list[str]]:
    """What is worse in the new outcome, and what is better."""
    if old.failed or new.failed:
        lost = [] if old.failed or not new.failed else ["it failed"]
        return lost, ["it no longer fails"] if old.failed and not new.failed else []
    # Breaks count as published, where -1 is a frame that was skipped whole.
    counts = [("breaks", old.breaks, new.breaks), ("recompiles", old.recompiles, new.recompiles)]
    lost = [f"{name} {a} -> {b}" for name, a, b in counts if b > a]
    gained = [f"{name} {a} -> {b}" for name, a, b in counts if b < a]
    for name, a, b in (
        ("passes fullgraph", old.fullgraph, new.fullgraph),
        ("equal", old.equal, new.equal),
    ):
        if a != b:
            (gained if b else lost).append(f"{'now' if b else 'no longer'} {name}")
    return lost, gained
