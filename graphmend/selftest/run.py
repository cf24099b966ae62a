"""All cases of the catalogue under this torch."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from graphmend.cases import cases
from graphmend.selftest.runtime import State, state, wake
from graphmend.selftest.trial import Bench, Trial


@dataclass(frozen=True, slots=True)
class Outcome:
    """Every case, by rule, and the state of the runtime after they ran."""

    trials: tuple[Trial, ...]
    runtime: State

    @property
    def ok(self) -> bool:
        """Whether all is as promised for this version."""
        return self.runtime.works and all(trial.ok for trial in self.trials)


def run() -> Outcome:
    """Run every case. The originals come first: compiling changes how eager code checks itself."""
    with tempfile.TemporaryDirectory(prefix="graphmend-selftest-") as folder:
        benches = []
        for number, case in enumerate(sorted(cases(), key=lambda c: (c.rule.code, c.name))):
            place = Path(folder) / str(number)
            place.mkdir()
            benches.append(Bench(case, place))
        for bench in benches:
            bench.prepare()
        promised = wake().works
        for bench in benches:
            bench.run(promised)
    return Outcome(tuple(bench.trial for bench in benches), state())
