"""One file: read, mend, compare. What runs in the worker processes; it never raises."""

from __future__ import annotations

import traceback
from dataclasses import replace
from pathlib import Path

from graphmend.cli import cache
from graphmend.cli.discovery import reason
from graphmend.cli.options import Options
from graphmend.ir.source import SourceError, decode
from graphmend.report.outcome import Outcome, as_fixable


def process(path: str, options: Options) -> Outcome:
    """Check or fix the file at `path`, as `options` say; nothing is written."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        return Outcome(path, error=f"cannot be read: {reason(error)}")
    return process_bytes(data, path, path, options)


def process_bytes(data: bytes, path: str, filename: str, options: Options) -> Outcome:
    """Check or fix a file's content.

    `path` is the name in messages, `filename` the place that imports are resolved from.
    """
    try:
        return _mend(data, path, filename, options)
    except SourceError as error:
        return Outcome(path, error=error.message)
    except Exception as error:  # whatever happens in here must not stop the other files
        what = traceback.format_exception_only(error)[-1].strip().splitlines()[0]
        return Outcome(
            path,
            error=f"internal error, please report; the file is as it was ({what})",
            details=traceback.format_exc(),
        )


def _mend(data: bytes, path: str, filename: str, options: Options) -> Outcome:
    source = decode(data, Path(filename))
    text, found = cache.mend(source, filename, options)
    findings = tuple(replace(finding, path=path) for finding in found)
    if not options.writes:
        findings = as_fixable(findings)
    if not options.fix or text == source.text:
        return Outcome(path, findings)
    mended = source.encode(text)
    diff = _diff(data, mended, path) if options.diff else b""
    return Outcome(path, findings, before=data, mended=mended, diff=diff)


def _diff(old: bytes, new: bytes, path: str) -> bytes:
    """A unified diff in the file's own encoding and line ends, so that `patch -p0` applies it."""
    import difflib  # for --diff only

    name = path.encode("utf-8", "surrogateescape")
    lines = difflib.diff_bytes(
        difflib.unified_diff,
        old.splitlines(keepends=True),
        new.splitlines(keepends=True),
        name,
        name,
    )
    return b"".join(
        line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
        for line in lines
    )
