"""The text of a row's cells, the same in the terminal and in Markdown."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
HEADINGS = (
    "model",
    "cause",
    "published",
    "breaks",
    "removed",
    "frames ok",
    "graphs",
    "fullgraph",
    "recompiles",
    "outputs: eager",
    "outputs: compiled",
    "logs",
    "state",
    "note",
)
_FAILED = "failed"


def cells(row: Row) -> tuple[str, ...]:
    """The cells of a row, in the order of HEADINGS."""
    return (
        row["name"],
        row["cause"],
        _published(row),
        _both(row, lambda counts: str(counts["breaks"])),
        _removed(row),
        _both(row, lambda counts: f"{counts['frames_ok']}/{counts['frames']}"),
        _both(row, lambda counts: str(counts["graphs"])),
        _both(row, lambda counts: "yes" if counts["fullgraph"] else "no"),
        _both(row, lambda counts: str(counts["recompiles"])),
        _verdict(row, ("mended eager",), ("outputs", "arguments")),
        _verdict(row, ("mended compiled",), ("outputs", "arguments")),
        _verdict(row, ("mended eager", "mended compiled"), ("records", "record_sites")),
        _verdict(row, ("mended eager", "mended compiled"), ("state",)),
        "; ".join(notes(row)),
    )


def _published(row: Row) -> str:
    if row["published_breaks"] is None:
        return "-"
    return f"{row['published_breaks']}, {row['published_removed']}%"


def _both(row: Row, text: Any) -> str:
    before, after = (text(row[k]) if row[k] else _FAILED for k in ("before", "after"))
    return f"{before} → {after}"


def removed_percent(row: Row) -> int | None:
    """The share of breaks that mending removed, rounded; None where a count is missing or 0."""
    if not row["before"] or not row["after"] or row["before"]["breaks"] <= 0:
        return None
    before: int = row["before"]["breaks"]
    after: int = row["after"]["breaks"]
    return round(100 * (before - after) / before)


def _removed(row: Row) -> str:
    share = removed_percent(row)
    return "-" if share is None else f"{share}%"


def _verdict(row: Row, arms: tuple[str, ...], aspects: tuple[str, ...]) -> str:
    found = [row["agreement"].get(arm, {}).get(aspect) for arm in arms for aspect in aspects]
    if any(verdict is None for verdict in found):
        return _FAILED
    if all(verdict["equal"] for verdict in found):
        return "equal"
    return "as compiled before" if all(verdict["ok"] for verdict in found) else "DIFFER"


def notes(row: Row) -> list[str]:
    """What a reader has to know about a row before believing its figures."""
    mend, before, after = row["mend"], row["before"], row["after"]
    found = ["look-alike: our own module with the published break"] if row.get("lookalike") else []
    found += [f"{process} failed" for process in row["failures"]]
    if mend["error"]:
        found.append(f"install failed: {mend['error']}")
    if mend["inert"]:
        found.append("INERT: mending changed no loaded code")
    elif before and after and before["breaks"] > 0 and before["breaks"] == after["breaks"]:
        found.append("no break removed")
    if before and before["breaks"] != row["breaks"]:
        found.append(f"{row['breaks']} breaks expected before")
    if after and row["goal"] is not None and not _goal_met(row):
        found.append(f"goal missed: at most {row['goal']} breaks")
    if after and after["breaks"] < 0:
        found.append("a frame was skipped whole")
    if not row["same_start"]:
        found.append("the arms did not start equal")
    return found


def _goal_met(row: Row) -> bool:
    """A goal of no breaks includes that fullgraph=True passes."""
    goal: int = row["goal"]
    breaks: int = row["after"]["breaks"]
    return 0 <= breaks <= goal and (goal > 0 or bool(row["after"]["fullgraph"]))
