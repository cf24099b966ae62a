"""A run as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from graphmend.findings import Finding
from graphmend.report.outcome import Problem
from graphmend.version import __version__


def document(
    findings: Iterable[Finding], errors: Iterable[Problem], mended: bytes | None = None
) -> str:
    """The document; `mended` is what a `fix -` makes of its input, as far as that is text."""
    content: dict[str, object] = {
        "version": __version__,
        "findings": [finding.to_json() for finding in findings],
        "errors": [{"path": error.path, "message": error.message} for error in errors],
    }
    if mended is not None:
        content["source"] = _text(mended)
    return json.dumps(content, indent=2)


def _text(data: bytes) -> str | None:
    from graphmend.ir.source import SourceError, decode

    try:
        return decode(data, Path("<stdin>")).text
    except SourceError:
        return None
