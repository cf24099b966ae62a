"""Writing a mended file: all of it or nothing."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from dataclasses import replace
from pathlib import Path

from graphmend.cli.discovery import reason
from graphmend.report.outcome import Outcome, as_fixable


class NotWritten(Exception):
    """The file was left as it was; the message says why."""


def written(outcome: Outcome) -> Outcome:
    """The outcome after its change, if it has one, was written to disk, or could not be."""
    if outcome.before is None or outcome.mended is None:
        return outcome
    try:
        replace_file(Path(outcome.path), outcome.mended, outcome.before)
    except NotWritten as error:
        return replace(outcome, findings=as_fixable(outcome.findings), error=str(error))
    return outcome


def replace_file(path: Path, new: bytes, expected: bytes) -> None:
    """Replace the content of `path`, which must still be `expected`, by `new`.

    The new content goes to a temporary file beside it, which then takes its place in one step:
    whoever reads the file sees the old text or the new one. Mode bits stay, and a symbolic link
    stays a link. Raises `NotWritten`.
    """
    try:
        _replace(Path(os.path.realpath(path)), new, expected)
    except OSError as error:
        raise NotWritten(f"cannot write: {reason(error)}") from error


def _replace(target: Path, new: bytes, expected: bytes) -> None:
    status = target.stat()
    # Replacing needs the folder's permission only, so the file's own is asked for here.
    if not os.access(target, os.W_OK):
        raise NotWritten("cannot write: the file is read-only")
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(new)
            stream.flush()
            os.fsync(stream.fileno())
        with contextlib.suppress(OSError):  # only the superuser can keep a foreign owner
            os.chown(name, status.st_uid, status.st_gid)
        os.chmod(name, stat.S_IMODE(status.st_mode))
        if target.read_bytes() != expected:
            raise NotWritten("the file changed while it was being mended; left as it is")
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
