"""The verdict on one arm of the mended program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from graphmend.verification.agreement import ALL_ASPECTS, Verdict, compare
from graphmend.verification.arms import Arm
from graphmend.verification.observe import Observation
from graphmend.verification.tolerance import compare_within_tolerance


class Status(StrEnum):
    """What came of an arm.

    SHARED: torch.compile makes the same difference in the original. NOT_WHOLE: fullgraph takes
    neither side. NOT_RUN: the original does not run so.
    """

    EQUAL = "equal"
    SHARED = "equal to the original compiled alike"
    NOT_WHOLE = "not captured in one graph"
    NOT_RUN = "not run"
    DIFFERS = "differs"


@dataclass(frozen=True, slots=True)
class Failure:
    """An arm that came to no result: its process died, or the program could not be made."""

    message: str


Outcome = list[Observation] | Failure
Outcomes = Mapping[Arm, Outcome]


@dataclass(frozen=True, slots=True)
class ArmVerdict:
    """An arm, what came of it, and the first difference of each aspect that differs."""

    arm: Arm
    status: Status
    differences: dict[str, str] = field(default_factory=dict)
    note: str | None = None


def judge(arms: Sequence[Arm], original: Outcomes, mended: Outcomes) -> list[ArmVerdict]:
    """A verdict for every arm, in order."""
    return [_judge(arm, original, mended) for arm in arms]


def _judge(arm: Arm, original: Outcomes, mended: Outcomes) -> ArmVerdict:
    reference, known = original.get(arm.reference), original.get(arm)
    measured = mended.get(arm)
    if reference is None or isinstance(reference, Failure):
        return ArmVerdict(arm, Status.NOT_RUN, note=reference.message if reference else None)
    if isinstance(known, Failure) or known is None:
        known = None
    if measured is None or isinstance(measured, Failure):
        message = measured.message if measured else "no result"
        if known is None:
            return ArmVerdict(arm, Status.NOT_RUN, note=message)
        return ArmVerdict(arm, Status.DIFFERS, {"process": message})
    broken = original.get(replace(arm, fullgraph=False, sequence=True))
    return _compared(arm, reference, known, broken if isinstance(broken, list) else [], measured)


def _compared(
    arm: Arm,
    reference: list[Observation],
    known: list[Observation] | None,
    broken: list[Observation],
    measured: list[Observation],
) -> ArmVerdict:
    """The verdict on what was measured.

    `known` is the original run in this arm. Where fullgraph does not take a call of it, `broken`
    tells what torch.compile makes of that call: the original with its breaks.
    """
    kept = list(range(len(measured)))
    baseline = known
    if arm.fullgraph:
        lost = [i for i, seen in enumerate(measured) if not seen.captured]
        worse = [i for i in lost if known is not None and known[i].captured]
        if worse:
            said = f"call {worse[0]}: captured in the original, here {measured[worse[0]].exception}"
            return ArmVerdict(arm, Status.DIFFERS, {"capture": said})
        kept = [i for i in kept if i not in lost]
        if known is not None and len(broken) >= len(known):
            baseline = [k if k.captured else b for k, b in zip(known, broken, strict=False)]
    elif known is not None:  # the compiler fails on both sides, in words of its own
        kept = [i for i in kept if measured[i].captured or known[i].captured]
    if not kept:
        return ArmVerdict(arm, Status.NOT_WHOLE, note=measured[0].exception if measured else None)
    if arm.within_tolerance:
        if known is None:
            return ArmVerdict(arm, Status.NOT_RUN, note="the original does not compile so")
        return _summed(arm, compare_within_tolerance(known, measured))
    return _summed(
        arm,
        compare(
            [reference[i].to_json() for i in kept],
            [measured[i].to_json() for i in kept],
            None
            if baseline is None or arm.backend is None
            else [baseline[i].to_json() for i in kept],
            ALL_ASPECTS,
        ),
    )


def _summed(arm: Arm, verdicts: Mapping[str, Verdict]) -> ArmVerdict:
    wrong = {k: v.difference or "" for k, v in verdicts.items() if not v.ok}
    if wrong:
        return ArmVerdict(arm, Status.DIFFERS, wrong)
    shared = {k: v.difference or "" for k, v in verdicts.items() if v.shared}
    return ArmVerdict(arm, Status.SHARED if shared else Status.EQUAL, shared)
