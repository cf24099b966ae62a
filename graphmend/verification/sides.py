"""One side of a verification: everything that is run on the original, or on the mended program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import torch

from graphmend.findings import Finding
from graphmend.verification import counting, running
from graphmend.verification.arms import Arm, Setting, Traits
from graphmend.verification.counting import Counts
from graphmend.verification.observe import Observation
from graphmend.verification.program import Maker, seeded
from graphmend.verification.verdicts import Failure, Outcome

Value = TypeVar("Value")
# Runs work where it cannot influence the rest; a Failure where it came to no result.
Apart = Callable[[Callable[[], Value]], Value | Failure]


@dataclass(slots=True)
class Side:
    """What was seen of one side.

    `left_out` says why the original does not run in a setting, whose arms are then left out.
    `modules` maps the program's own modules to their files; `parts` are the modules whose classes
    and functions it is made of. `mended` and `refused` are the findings of the import hook.
    """

    traits: Traits | None = None
    arms: list[Arm] = field(default_factory=list)
    outcomes: dict[Arm, Outcome] = field(default_factory=dict)
    left_out: dict[Setting, str] = field(default_factory=dict)
    counts: Counts | None = None
    count_error: str | None = None
    parts: tuple[str, ...] = ()
    modules: dict[str, str] = field(default_factory=dict)
    mended: dict[str, tuple[Finding, ...]] = field(default_factory=dict)
    refused: dict[str, tuple[Finding, ...]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    error: str | None = None


def run_arms(side: Side, make: Maker, arms: Sequence[Arm], apart: Apart[list[Observation]]) -> None:
    """Run the arms in order and keep their outcomes."""
    for arm in arms:
        side.outcomes[arm] = apart(lambda arm=arm: running.run(make, arm))  # type: ignore[misc]


def leave_out(side: Side) -> None:
    """Drop the arms of casts in which the original, run eagerly, does not get through.

    What raises in a cast but not as given is what the dtype does not allow, unless other calls
    show that it does.
    """
    given = {
        (a.setting.training, a.sequence, a.checkpoint): _completed(seen)
        for a, seen in side.outcomes.items()
        if a.setting.dtype is None
    }
    for arm, seen in side.outcomes.items():
        expected = given.get((arm.setting.training, arm.sequence, arm.checkpoint))
        if arm.setting.dtype is not None and expected and not (_completed(seen) & expected):
            side.left_out.setdefault(arm.setting, _why(seen))
    side.arms = [arm for arm in side.arms if arm.setting not in side.left_out]


def _completed(seen: Outcome) -> set[int]:
    calls = [] if isinstance(seen, Failure) else seen
    return {index for index, call in enumerate(calls) if call.exception is None}


def _why(seen: Outcome) -> str:
    if isinstance(seen, Failure):
        return seen.message
    return next((call.exception for call in seen if call.exception), "no call completes")


def count(side: Side, make: Maker, setting: Setting, apart: Apart[Counts]) -> None:
    """Count what torch.compile makes of the program."""

    def counted() -> Counts:
        with torch.set_grad_enabled(not setting.no_grad):
            found = counting.count(lambda: _fresh(make, setting))
        # A stack is only good for its place, and may not leave the process.
        return replace(
            found, reasons=[(_place(reason, stack), None) for reason, stack in found.reasons]
        )

    found = apart(counted)
    if isinstance(found, Failure):
        side.count_error = found.message
    else:
        side.counts = found


def _fresh(make: Maker, setting: Setting) -> tuple[Callable[..., object], list[counting.Arguments]]:
    program = seeded(make).into(setting)
    return program.function, [program.arguments(i) for i in range(len(program.inputs))]


def _place(reason: str, stack: Sequence[object]) -> str:
    frame = stack[-1] if stack else None
    place = f"{getattr(frame, 'filename', '?')}:{getattr(frame, 'lineno', '?')}"
    return f"{place}: {reason.strip().splitlines()[0]}"
