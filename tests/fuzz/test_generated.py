"""Generated programs behave, once mended, as they were written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, seed

from eval.fuzz import batch
from eval.fuzz.compare import Outcome
from eval.fuzz.programs import Program, programs
from eval.fuzz.tally import Tally
from graphmend.api import fix_source

RUNS, GROUP = 30, 3


@pytest.mark.parametrize("first", range(0, RUNS, GROUP))
def test_generated_programs_behave_as_they_were_written(first: int) -> None:
    assert batch.run_many(range(first, first + GROUP))["found"] == []


def test_most_sites_of_generated_programs_are_mended(tmp_path: Path) -> None:
    tally = Tally()

    @batch.SETTINGS
    @given(programs())
    def one(program: Program) -> None:
        tally.add(Outcome(fix_source(program.text, str(tmp_path / "program.py")).findings))

    for number in range(8):
        seed(number)(one)()
    sites = tally.counts["sites"]
    mended, found = (
        sum(n for name, n in sites.items() if name.startswith("GM") and name.endswith(what))
        for what in ("mended", "sites")
    )
    assert found > 100
    assert mended > found // 2
    assert len(tally.counts["refused"]) > 5
