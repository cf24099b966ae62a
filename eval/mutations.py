"""`python -m eval mutations`: each legality check switched off in turn; a test must fail."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval.job import ROOT
from eval.machine import describe
from eval.mutation_checks import Check, checks_in
from eval.mutation_hook import Mutation
from eval.mutation_reach import Reach
from eval.mutation_report import Row, holds, markdown, summary
from eval.mutation_tests import DidNotRun, Runner
from eval.report import read_json_lines, write_json_lines
from eval.table2 import RESULTS, Progress

PACKAGES = ("graphmend.rewrite", "graphmend.runtime")
ALLOWED: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("mutations_allowed.toml").read_text(encoding="utf-8")
)
"""Checks that no test can need, with the reasons."""

_FIRST = 4
_LIMIT_S = 120
_SLOWER = 10


@dataclass(frozen=True, slots=True)
class Project:
    """Whose checks are switched off, and whose tests must notice."""

    root: Path = ROOT
    packages: tuple[str, ...] = PACKAGES
    tests: tuple[str, ...] = ("tests",)

    def checks(self, parts: Sequence[str] = ()) -> list[Check]:
        """The checks whose text has one of `parts` in it; all where there are none."""
        found = checks_in(self.root, self.packages)
        return [c for c in found if not parts or any(part in str(c) for part in parts)]

    def test_files(self) -> list[str]:
        """The files of tests below the folders `tests`, or named there, relative to the root."""
        paths = sorted((self.root / "tests").rglob("test_*.py"))
        names = [path.relative_to(self.root).as_posix() for path in paths]
        return [n for n in names if any(n == t or n.startswith(f"{t}/") for t in self.tests)]


def run(
    parts: Sequence[str],
    output: Path | None,
    reach_file: Path | None,
    tests: Sequence[str],
    anew: bool,
) -> int:
    """Switch off the checks with one of `parts` in their text, all where there are none.

    Which tests reach which checks is kept in `reach_file`. It is recorded of the files and folders
    `tests`, all where there are none, as far as it is not known of them, or `anew`. Results are
    written below `output`, those of other checks are kept there; a run of all writes to
    `eval/results` by default, a run of some only prints. Returns 1 where a check is needed by no
    test.
    """
    command = " ".join(["python -m eval mutations", *(f'"{part}"' for part in parts)])
    command += "".join(f" --tests {name}" for name in tests)
    about = {"command": command, **describe()}
    project, runner, progress = Project(), Runner(ROOT), Progress()
    if tests:
        project = replace(project, tests=tuple(name.rstrip("/") for name in tests))
    reach = recorded(project, runner, reach_file, anew, progress)
    folder = output or (None if parts else RESULTS)
    checks = project.checks(parts)
    rows: list[Row] = []
    for number, check in enumerate(checks, 1):
        progress(f"{number} of {len(checks)}: {check}")
        rows.append({**switch_off(check, project, runner, reach), "commit": about["commit"]})
        if rows[-1]["outcome"] != "killed":
            print(summary(rows[-1]), flush=True)
        if folder is not None:
            write(folder, about, rows, project.checks())
    return 0 if holds(rows, ALLOWED) else 1


def recorded(
    project: Project,
    runner: Runner,
    path: Path | None,
    anew: bool,
    progress: Callable[[str], None],
) -> Reach:
    """Which tests reach which checks, from the file as far as it is known there."""
    reach = Reach() if path is None else Reach.load(path)
    known = {test.partition("::")[0] for test in [*reach.tests, *reach.failing]}
    for file in project.test_files():
        if file in known and not anew:
            continue
        progress(f"recording {file}")
        try:
            reach.record(file, project.packages, runner)
        except DidNotRun as error:
            progress(f"{file} {error}")
        if path is not None:
            reach.save(path)
    return reach


def switch_off(check: Check, project: Project, runner: Runner, reach: Reach) -> Row:
    """Run the tests that reach a check without it, a few first; what came of it."""
    tests = reach.of(str(check))
    row: dict[str, Any] = {
        "module": check.module,
        "function": check.function,
        "reason": check.reason,
        "number": check.number,
        "tests": len(tests),
        "outcome": "survived" if tests else "not reached",
        "by": None,
    }
    mutation = Mutation(project.packages, off=str(check))
    for batch in filter(None, (tests[:_FIRST], tests[_FIRST:])):
        try:
            ran = runner.run(batch, mutation, _LIMIT_S + _SLOWER * reach.seconds(batch))
        except DidNotRun as error:
            return {**row, "outcome": "not decided", "by": str(error)}
        failed = next((one.test for one in ran if not one.passed), None)
        if failed is not None:
            return {**row, "outcome": "killed", "by": failed}
    return row


def write(
    folder: Path, about: dict[str, str], rows: Sequence[Row], checks: Iterable[Check]
) -> None:
    """Write the results; those of checks that were not run stay, in the order of the source."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "mutations.jsonl"
    earlier = read_json_lines(path)[1] if path.exists() else []
    by_check = {_key(row): row for row in [*earlier, *rows]}
    keys = [(c.module, c.function, c.reason, c.number) for c in checks]
    kept = [by_check[key] for key in keys if key in by_check]
    write_json_lines(path, about, kept)
    (folder / "mutations.md").write_text(markdown(about, kept, ALLOWED), encoding="utf-8")


def _key(row: Row) -> tuple[str, str, str, int]:
    return row["module"], row["function"], row["reason"], row["number"]
