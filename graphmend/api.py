"""The Python API: check or fix one source text."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from graphmend.findings import Finding


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `text[start:end]` of the original by `replacement` (offsets in characters).

    `origin_line` is the 1-based line of the original that the first line of the replacement
    stands for; further lines of moved statements count on from it.
    """

    start: int
    end: int
    replacement: str
    origin_line: int


@dataclass(frozen=True, slots=True)
class Result:
    """A mended text: the new source, the findings, the edits that made it, the files consulted."""

    source: str
    findings: tuple[Finding, ...]
    edits: tuple[Edit, ...]
    consulted: frozenset[Path]


def fix_source(
    source: str,
    filename: str,
    *,
    unsafe: bool = False,
    select: Collection[str] | None = None,
    ignore: Collection[str] = (),
) -> Result:
    """Mend one source text as if it were the file `filename`.

    Raises `graphmend.ir.source.SourceError` where the text cannot be parsed.
    """
    return Result(source, (), (), frozenset())


def check_source(
    source: str,
    filename: str,
    *,
    unsafe: bool = False,
    select: Collection[str] | None = None,
    ignore: Collection[str] = (),
) -> tuple[Finding, ...]:
    """The findings for one source text; nothing is changed. Errors as in `fix_source`."""
    return ()
