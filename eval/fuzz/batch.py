"""Some programs, drawn from a seed and compared, in a process of their own."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch._dynamo.guards as guards
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from eval.fuzz.compare import compare
from eval.fuzz.files import as_text
from eval.fuzz.programs import Program, programs
from eval.fuzz.tally import Tally

# Behind its first ten examples hypothesis varies those it has, rather than to draw new ones.
RUN = 10
SETTINGS = settings(
    max_examples=RUN,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A program that behaves differently once mended, shrunk, and what differs."""

    program: Program
    difference: str


class _Differs(Exception):
    """A program's mended text behaves differently."""


@contextmanager
def prepared() -> Iterator[None]:
    """Set this process up for programs: one thread, every record seen, and no time lost."""
    before = torch.get_num_threads(), logging.root.level, guards.profile_guard_manager
    torch.set_num_threads(1)
    logging.root.setLevel(logging.DEBUG)
    torch._logging.set_logs(all=logging.CRITICAL)
    # It flushes the processor's caches to measure how long guards take, which nobody asks here.
    guards.profile_guard_manager = lambda *_: 0.0
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        logging.root.setLevel(before[1])
        torch._logging.set_logs()
        guards.profile_guard_manager = before[2]


def run(seed: int) -> tuple[Tally, Counterexample | None]:
    """Compare about `RUN` new programs; the first that differs ends the run, shrunk."""
    tally, known = Tally(), set[str]()
    worst: list[Counterexample] = []

    with tempfile.TemporaryDirectory(prefix="graphmend-fuzz-") as name:

        @seeded(seed)
        @SETTINGS
        @given(programs())
        def one(program: Program) -> None:
            if program.text in known and not worst:
                return
            known.add(program.text)
            outcome = compare(program, Path(name))
            if not worst:
                tally.add(outcome)
            if outcome.difference is not None:
                worst.append(Counterexample(program, outcome.difference))
                raise _Differs

        try:
            one()
        except _Differs:
            return tally, worst[-1]
    return tally, None


def run_many(seeds: range) -> dict[str, Any]:
    """The runs of some seeds, as JSON-able data: counts, and counterexamples as files."""
    tally, found = Tally(), []
    with prepared():
        for seed in seeds:
            counts, counterexample = run(seed)
            tally.merge(counts.counts)
            if counterexample is not None:
                text = as_text(counterexample.program, counterexample.difference)
                found.append([f"seed_{seed}.py", text])
    return {"counts": tally.counts, "found": found}
