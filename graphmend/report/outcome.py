"""What became of one file: a picklable value that worker processes send back."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graphmend.findings import Finding, Status


@dataclass(frozen=True, slots=True)
class Problem:
    """A path and, in one line, what is wrong with it."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """`error` is set where the file could not be done; it was then left as it was.

    `before` and `mended` are the old and the new content where mending changes it, `diff` is the
    change as a unified diff where that was asked for, `details` the traceback of an internal error.
    """

    path: str
    findings: tuple[Finding, ...] = ()
    before: bytes | None = None
    mended: bytes | None = None
    diff: bytes = b""
    error: str | None = None
    details: str | None = None

    def fixed(self) -> tuple[Finding, ...]:
        """The sites that this run mended."""
        return tuple(f for f in self.findings if f.status is Status.FIXED)

    def left(self) -> tuple[Finding, ...]:
        """The sites that are still in the file."""
        return tuple(f for f in self.findings if f.status is not Status.FIXED)


def as_fixable(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The same findings for a file that was not written: what would be fixed is fixable."""
    return tuple(
        replace(f, status=Status.FIXABLE) if f.status is Status.FIXED else f for f in findings
    )
