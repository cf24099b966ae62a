"""Findings as text, a line each, in the form that editors and CI logs link."""

from __future__ import annotations

from graphmend.findings import Finding, Grade, Status
from graphmend.report.console import printable


def line(finding: Finding) -> str:
    """`path:line:col: CODE message [fixable]`, or what else is to be said of the site."""
    place = f"{finding.path}:{finding.line}:{finding.column}"
    return printable(f"{place}: {finding.code} {finding.message} [{_verdict(finding)}]")


def _verdict(finding: Finding) -> str:
    verdict = str(finding.status)
    if finding.status is not Status.REFUSED and finding.grade is Grade.UNSAFE:
        verdict += ", unsafe"
    if finding.reason:
        verdict += f": {finding.reason}"
    if finding.copied_from is not None:
        verdict += f"; a copy of {finding.copied_from}"
    if needs_unsafe(finding):
        verdict += "; --unsafe mends it"
    return verdict


def needs_unsafe(finding: Finding) -> bool:
    """Whether the site was left only because `--unsafe` was not given."""
    return finding.status is Status.REFUSED and finding.grade is Grade.UNSAFE
