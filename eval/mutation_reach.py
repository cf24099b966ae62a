"""Which tests reach which checks: recorded once, kept in a file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from eval.mutation_hook import Mutation
from eval.mutation_tests import Ran, Runner

RECORD_LIMIT_S = 1800


@dataclass(frozen=True, slots=True)
class Reached:
    """A test that passed with no check switched off: the checks that it reaches, and its time."""

    seconds: float
    checks: tuple[str, ...]


@dataclass
class Reach:
    """The tests by their ids, and those that fail anyway; nothing rests on the latter."""

    tests: dict[str, Reached] = field(default_factory=dict)
    failing: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, path: Path) -> Reach:
        """Read what `save` wrote; nothing where there is no such file."""
        if not path.exists():
            return cls()
        data = json.loads(path.read_text(encoding="utf-8"))
        tests = {t: Reached(r["seconds"], tuple(r["checks"])) for t, r in data["tests"].items()}
        return cls(tests, data["failing"])

    def save(self, path: Path) -> None:
        """Write it to a file."""
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    def of(self, check: str) -> list[str]:
        """The tests that reach a check, the most specific first, of those the fastest."""
        found = [test for test, reached in self.tests.items() if check in reached.checks]
        return sorted(found, key=lambda t: (len(self.tests[t].checks), self.tests[t].seconds))

    def seconds(self, tests: Iterable[str]) -> float:
        """How long the tests took when they were recorded."""
        return sum(self.tests[test].seconds for test in tests)

    def record(self, path: str, packages: tuple[str, ...], runner: Runner) -> None:
        """Run the tests of a file, noting what they reach; in place of what is known of them.

        What is reached before the first test counts for all of them.
        """
        with tempfile.TemporaryDirectory(prefix="graphmend-reach-") as scratch:
            notes = Path(scratch, "notes.jsonl")
            notes.touch()
            ran = runner.run([path], Mutation(packages, record=str(notes)), RECORD_LIMIT_S)
            pairs = [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]
        for test in [test for test in self.tests if test.startswith(f"{path}::")]:
            del self.tests[test]
        self.failing = [test for test in self.failing if not test.startswith(f"{path}::")]
        self._add(ran, pairs)

    def _add(self, ran: Iterable[Ran], pairs: Iterable[tuple[str, str]]) -> None:
        by_test: dict[str, dict[str, None]] = {}
        for test, check in pairs:
            by_test.setdefault(test, {})[check] = None
        for one in ran:
            if one.passed:
                checks = {**by_test.get("", {}), **by_test.get(one.test, {})}
                self.tests[one.test] = Reached(round(one.seconds, 3), tuple(checks))
            else:
                self.failing.append(one.test)
