"""What a run adds up to: its exit status and its summary line."""

from __future__ import annotations

from dataclasses import dataclass

from graphmend.findings import Finding, Status
from graphmend.report.outcome import Outcome
from graphmend.report.text import needs_unsafe

CLEAN, FINDINGS, ERROR = 0, 1, 2


@dataclass(slots=True)
class Tally:
    """Counts over all files of a run."""

    files: int = 0
    changed: int = 0
    fixed: int = 0
    fixable: int = 0
    unsafe: int = 0
    refused: int = 0
    errors: int = 0

    def add(self, outcome: Outcome) -> None:
        """Count one file."""
        if outcome.error is not None:
            self.errors += 1
        else:
            self.files += 1
        self.changed += any(f.status is Status.FIXED for f in outcome.findings)
        for finding in outcome.findings:
            self._count(finding)

    def _count(self, finding: Finding) -> None:
        if finding.status is Status.FIXED:
            self.fixed += 1
        elif needs_unsafe(finding):
            self.unsafe += 1
        elif finding.status is Status.REFUSED:
            self.refused += 1
        else:
            self.fixable += 1

    @property
    def left(self) -> int:
        """Sites that are still there after the run."""
        return self.fixable + self.unsafe + self.refused

    def exit_status(self, exit_zero: bool = False) -> int:
        """0 nothing found, 1 sites found (for a fix: left), 2 a file could not be done."""
        if self.errors:
            return ERROR
        return FINDINGS if self.left and not exit_zero else CLEAN

    def summary(self, fix: bool) -> str:
        """One line for stderr."""
        if fix:
            head = f"{_count(self.fixed, 'site')} mended in {_count(self.changed, 'file')}"
            line = f"{head}, {self.left} left" if self.left else head
        else:
            line = f"{_count(self.left, 'break site')} in {_count(self.files, 'file')}"
        parts = [
            f"{number} {what}"
            for number, what in (
                (self.fixable, "fixable"),
                (self.unsafe, "fixable with --unsafe"),
                (self.refused, "refused"),
            )
            if number
        ]
        line += f": {', '.join(parts)}" if parts else ""
        return f"{line}; {_count(self.errors, 'error')}" if self.errors else line


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
