"""`check` and `fix`: files in, findings and exit status out."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from graphmend.cli import discovery
from graphmend.cli.options import Options
from graphmend.findings import Finding
from graphmend.report.console import Console, printable
from graphmend.report.outcome import Outcome, Problem
from graphmend.report.tally import Tally
from graphmend.report.text import line

STDIN = "-"


@dataclass
class Run:
    """One run over files or stdin; `as_json` collects everything into one document at the end."""

    options: Options
    console: Console
    as_json: bool = False
    exit_zero: bool = False
    tally: Tally = field(default_factory=Tally)
    findings: list[Finding] = field(default_factory=list)
    errors: list[Problem] = field(default_factory=list)

    def over_paths(self, paths: Sequence[str], jobs: int | None) -> int:
        """Check or fix what `paths` name; the exit status."""
        found = discovery.find(paths)
        for notice in found.notices:
            self.console.note(_problem_line(notice))
        for error in found.errors:
            self.tally.errors += 1
            self._error(error)
        outcomes = self._outcomes(found.files, jobs)
        for outcome in self._written(outcomes) if self.options.writes else outcomes:
            self._add(outcome)
            if self.console.closed and not self.options.writes:
                break  # nobody reads the rest
        return self._finish()

    def over_stdin(self, filename: str | None) -> int:
        """Check or fix the text on stdin; a fix writes the mended text to stdout.

        Text that cannot be mended goes out as it came in, so that a filter never loses it.
        """
        from graphmend.cli.worker import process_bytes

        data = sys.stdin.buffer.read()
        outcome = process_bytes(
            data, filename or STDIN, filename or "<stdin>", self._checked_options()
        )
        mended = outcome.mended if outcome.mended is not None else data
        is_filter = self.options.writes and not self.as_json
        self._add(outcome, show=not is_filter)
        if is_filter:
            self.console.data(mended)
        return self._finish(mended if self.options.writes else None)

    def _outcomes(self, files: list[str], jobs: int | None) -> Iterator[Outcome]:
        if not files:
            return iter(())
        from graphmend.cli.pool import outcomes

        return outcomes(files, self._checked_options(), jobs)

    def _checked_options(self) -> Options:
        if self.options.cache:
            from graphmend.cli import cache

            problem = cache.problem()
            if problem is not None:
                self.console.note(f"warning: {problem}")
                return replace(self.options, cache=False)
        return self.options

    @staticmethod
    def _written(outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
        """Write when every file is done: what becomes of one may rest on the text of another, and
        must not depend on which of them was first."""
        from graphmend.cli.writing import written

        return map(written, list(outcomes))

    def _add(self, outcome: Outcome, show: bool = True) -> None:
        self.tally.add(outcome)
        self.findings.extend(outcome.findings)
        if outcome.error is not None:
            self._error(Problem(outcome.path, outcome.error))
            if outcome.details and os.environ.get("GRAPHMEND_DEBUG") == "1":
                self.console.error(outcome.details.rstrip())
        if self.as_json or not show:
            return
        if self.options.diff:
            self.console.data(outcome.diff)
        else:
            self._show(outcome.left())

    def _show(self, findings: tuple[Finding, ...]) -> None:
        if findings:
            self.console.data("\n".join(map(line, findings)))

    def _error(self, problem: Problem) -> None:
        self.errors.append(problem)
        self.console.error(f"error: {_problem_line(problem)}")

    def _finish(self, mended: bytes | None = None) -> int:
        if self.as_json:
            from graphmend.report.document import document

            self.console.data(document(self.findings, self.errors, mended))
        self.console.note(self.tally.summary(self.options.writes))
        return self.tally.exit_status(self.exit_zero)


def _problem_line(problem: Problem) -> str:
    return printable(f"{problem.path}: {problem.message}")
