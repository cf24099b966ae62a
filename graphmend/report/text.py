"""Findings as text, a line each, in the form that editors and CI logs link."""

from __future__ import annotations

from graphmend.findings import Finding, Grade, Status
from graphmend.report.console import printable


def line(finding: Finding, unsafe: bool) -> str:
    """`path:line:col: CODE message [fixable]`; `unsafe` says that --unsafe was given."""
    place = f"{finding.path}:{finding.line}:{finding.column}"
    return printable(f"{place}: {finding.code} {finding.message} [{_verdict(finding, unsafe)}]")


def _verdict(finding: Finding, unsafe: bool) -> str:
    if finding.status is Status.REFUSED:
        return f"refused: {finding.reason}" if finding.reason else "refused"
    if finding.grade is not Grade.UNSAFE:
        return str(finding.status)
    verdict = f"{finding.status}, unsafe" if unsafe else "fixable with --unsafe"
    return f"{verdict}: {finding.reason}" if finding.reason else verdict
