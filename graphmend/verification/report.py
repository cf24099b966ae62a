"""What a verification found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graphmend.findings import Finding
from graphmend.report.text import line
from graphmend.verification.arms import Setting
from graphmend.verification.counting import Counts
from graphmend.verification.sides import Side
from graphmend.verification.tolerance import TOLERANCES
from graphmend.verification.verdicts import ArmVerdict, Status, judge
from graphmend.version import __version__


@dataclass(frozen=True)
class Report:
    """The outcome of a verification.

    `worse` says where compiling the mended program is worse than compiling the original: a call
    that fullgraph no longer takes, recompiles that do not stop. `before` and `after` are what
    torch.compile makes of the two, None where it could not be counted. `mended` and `refused`
    hold findings by module. `reproduction` is the script that shows the first difference.
    """

    target: str
    arms: tuple[ArmVerdict, ...]
    left_out: Mapping[Setting, str]
    worse: tuple[str, ...]
    before: Counts | None
    after: Counts | None
    mended: Mapping[str, tuple[Finding, ...]]
    refused: Mapping[str, tuple[Finding, ...]]
    failed: Mapping[str, str]
    notes: tuple[str, ...] = ()
    reproduction: Path | None = None

    @property
    def equal(self) -> bool:
        """Nothing differs that is the mend's doing, and nothing got worse."""
        return not self.worse and self.first_difference is None

    @property
    def first_difference(self) -> ArmVerdict | None:
        """The first arm that differs."""
        return next((arm for arm in self.arms if arm.status is Status.DIFFERS), None)

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def to_json(self) -> dict[str, Any]:
        """The report as JSON-able data."""
        return {
            "version": __version__,
            "target": self.target,
            "equal": self.equal,
            "mended": {m: [f.to_json() for f in found] for m, found in self.mended.items()},
            "refused": {m: [f.to_json() for f in found] for m, found in self.refused.items()},
            "failed": dict(self.failed),
            "before": _counts(self.before),
            "after": _counts(self.after),
            "worse": list(self.worse),
            "arms": [
                {**asdict(v), "name": str(v.arm), "status": v.status.name.lower()}
                for v in self.arms
            ],
            "not_run": {str(setting): why for setting, why in self.left_out.items()},
            "notes": list(self.notes),
            "reproduction": None if self.reproduction is None else str(self.reproduction),
        }


def report_on(target: str, original: Side, mended: Side) -> Report:
    """Compare two sides."""
    return Report(
        target=target,
        arms=tuple(judge(original.arms, original.outcomes, mended.outcomes)),
        left_out=original.left_out,
        worse=tuple(_worse(original.counts, mended.counts)),
        before=original.counts,
        after=mended.counts,
        mended=mended.mended,
        refused=mended.refused,
        failed=mended.failed,
        notes=tuple(_notes(original, mended)),
    )


def _worse(before: Counts | None, after: Counts | None) -> Iterator[str]:
    if before is None or after is None:
        return
    if before.fullgraph and not after.fullgraph:
        yield f"fullgraph took the original, and does not take this: {after.fullgraph_error}"
    if after.late_recompiles > before.late_recompiles:
        yield (
            f"recompiles do not stop: {after.late_recompiles} in the third round over the same "
            f"inputs, {before.late_recompiles} in the original"
        )


def _notes(original: Side, mended: Side) -> Iterator[str]:
    for name, side in (("original", original), ("mended", mended)):
        if side.count_error is not None:
            yield f"the {name} program could not be counted: {side.count_error}"
    raised = {
        call.exception
        for seen in original.outcomes.values()
        if isinstance(seen, list)
        for call in seen
    }
    if raised and None not in raised:
        yield f"the original raises on every input: {sorted(filter(None, raised))[0]}"


def _counts(counts: Counts | None) -> dict[str, Any] | None:
    if counts is None:
        return None
    data = asdict(counts)
    return {**data, "replayable": not counts.obstacles, "reasons": [r for r, _ in counts.reasons]}


def _lines(report: Report) -> Iterator[str]:
    yield from _mending(report)
    yield ""
    yield from _table(report.before, report.after)
    yield ""
    for status in Status:
        found = [v for v in report.arms if v.status is status]
        if found:
            yield f"{status}: {len(found)} of {len(report.arms)} ways to run it"
        if status is not Status.EQUAL:
            yield from _arms(found)
    yield from (f"not run: {setting}: {why}" for setting, why in report.left_out.items())
    yield from (f"worse: {text}" for text in report.worse)
    yield from (f"note: {text}" for text in report.notes)
    if any(v.arm.within_tolerance for v in report.arms):
        yield f"tolerance for Inductor as it is (relative, absolute): {_tolerances()}"
    yield ""
    yield f"{report.target}: " + (
        "the mended program does what the original does" if report.equal else "DIFFERS"
    )
    if report.reproduction is not None:
        yield f"to see it again: python {report.reproduction}"


def _arms(found: Sequence[ArmVerdict]) -> Iterator[str]:
    """Each arm; what differs in full where no arm before differs in the same aspects."""
    shown: set[tuple[str, ...]] = set()
    for verdict in found:
        aspects = tuple(verdict.differences)
        if aspects and aspects in shown:
            yield f"  {verdict.arm}: {', '.join(aspects)}, too"
            continue
        shown.add(aspects)
        yield f"  {verdict.arm}"
        yield from (f"    {aspect}: {text}" for aspect, text in verdict.differences.items())
        if verdict.note:
            yield f"    {(verdict.note.splitlines() or [''])[0]}"


def _mending(report: Report) -> Iterator[str]:
    mended = [f for found in report.mended.values() for f in found]
    refused = [f for found in report.refused.values() for f in found]
    if not mended:
        yield "nothing was mended: both sides are the same program"
    yield from (line(finding) for finding in (*mended, *refused))
    yield from (f"{module}: not mended: {why}" for module, why in report.failed.items())


_ROWS = (
    ("graph breaks, first call", "breaks"),
    ("frames", "frames"),
    ("frames captured", "frames_ok"),
    ("graphs", "graphs"),
    ("recompiles, later calls", "recompiles"),
    ("passes fullgraph=True", "fullgraph"),
    ("CUDA graphs could replay it", "replayable"),
)


def _table(before: Counts | None, after: Counts | None) -> Iterator[str]:
    one, other = _counts(before) or {}, _counts(after) or {}
    yield f"{'':30} {'before':>8} {'after':>8}"
    for title, key in _ROWS:
        yield f"{title:30} {_cell(one.get(key)):>8} {_cell(other.get(key)):>8}"
    yield from (f"  left: {reason}" for reason in dict.fromkeys(other.get("reasons", ())))
    yield from (f"  not replayable: {why}" for why in other.get("obstacles", ()))


def _cell(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _tolerances() -> str:
    return ", ".join(
        f"{str(t).removeprefix('torch.')} {r:g}, {a:g}" for t, (r, a) in TOLERANCES.items()
    )
