"""Two programs side by side in this process, for programs that no other process can load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from graphmend.verification import sides
from graphmend.verification.arms import AOT_EAGER, EAGER, Arm, plan
from graphmend.verification.program import Maker, seeded
from graphmend.verification.report import Report, report_on
from graphmend.verification.sides import Side

Value = TypeVar("Value")


def compare_pair(
    original: Maker,
    mended: Maker,
    *,
    backends: Sequence[str] = (EAGER, AOT_EAGER),
    arms: Sequence[Arm] | None = None,
) -> Report:
    """Run both programs in all arms, or in those given, which is then all that is done.

    Either makes its program anew each time it is called. Nothing of either is compiled before
    both have run eagerly. What they leave behind in this process, one arm leaves to the next.
    """
    planned = list(plan(seeded(original).traits(), backends) if arms is None else arms)
    one, other = Side(arms=planned), Side(arms=planned)
    references = list(dict.fromkeys(arm.reference for arm in planned))
    pairs = ((one, original), (other, mended))
    for side, make in pairs:
        sides.run_arms(side, make, references, _here)
    sides.leave_out(one)
    for side, make in pairs:
        compiled = [arm for arm in one.arms if arm.backend is not None]
        sides.run_arms(side, make, compiled, _here)
        if arms is None:
            sides.count(side, make, planned[0].setting, _here)
    return report_on("pair", one, other)


def _here(work: Callable[[], Value]) -> Value:
    return work()
