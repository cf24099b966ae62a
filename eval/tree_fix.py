"""Running `graphmend fix` over files in a process of its own, and what it says about them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIX = (sys.executable, "-m", "graphmend", "fix", "--format", "json", "--no-cache", "--quiet")
_NAMED = re.compile(r"`[^`]*`")
_LINE = re.compile(r"\bline \d+")
_STDERR_KEPT = 2000


@dataclass(frozen=True, slots=True)
class Fixed:
    """What one run said: exit status, wall time, findings, errors, and whether it crashed."""

    status: int
    seconds: float
    findings: list[dict[str, Any]]
    errors: list[dict[str, str]]
    crash: str | None


def fix(paths: Sequence[str], folder: Path, command: Sequence[str] = FIX) -> Fixed:
    """Mend `paths`, which are relative to `folder`, in place."""
    began = time.monotonic()
    done = subprocess.run([*command, *paths], cwd=folder, capture_output=True, text=True)
    seconds = round(time.monotonic() - began, 1)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        end = done.stderr.strip()[-_STDERR_KEPT:]
        return Fixed(done.returncode, seconds, [], [], f"exit {done.returncode}: {end}")
    findings, errors = said["findings"], said["errors"]
    return Fixed(done.returncode, seconds, findings, errors, _crash(done.stderr, errors))


def _crash(stderr: str, errors: Sequence[dict[str, str]]) -> str | None:
    """A traceback, or an error inside graphmend that it caught; unreadable files are neither."""
    for error in errors:
        if error["message"].startswith("internal error"):
            return f"{error['path']}: {error['message']}"
    return stderr.strip()[-_STDERR_KEPT:] if "Traceback (most recent call last)" in stderr else None


def by_code(findings: Sequence[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Sites of each rule: all, and how many of them are mended, left to `--unsafe`, refused."""
    counts: dict[str, Counter[str]] = {}
    for finding in findings:
        counts.setdefault(finding["code"], Counter())[_outcome(finding)] += 1
    return {
        code: {
            "sites": found.total(),
            "mended": found["mended"],
            "unsafe": found["unsafe"],
            "refused": found["refused"],
        }
        for code, found in sorted(counts.items())
    }


def by_reason(findings: Sequence[dict[str, Any]]) -> dict[str, int]:
    """How often each reason was given for a refusal, without the names and lines in it, most
    frequent first."""
    counted = Counter(
        f"{finding['code']}: {_group(finding['reason'] or '')}"
        for finding in findings
        if _outcome(finding) == "refused"
    )
    return dict(counted.most_common())


def _outcome(finding: dict[str, Any]) -> str:
    if finding["status"] == "fixed":
        return "mended"
    return "unsafe" if finding["grade"] == "unsafe" else "refused"


def _group(reason: str) -> str:
    return _LINE.sub("line N", _NAMED.sub("`..`", reason))
