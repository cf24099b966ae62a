"""The Python API: check or fix one source text."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from graphmend.collector import paused
from graphmend.deep import with_deep_stack
from graphmend.findings import Edit, Finding, Result, Status
from graphmend.ir.prescan import has_candidates
from graphmend.ir.source import source_of

__all__ = ["Edit", "Finding", "Result", "check_source", "fix_source"]


def fix_source(
    source: str,
    filename: str,
    *,
    unsafe: bool = False,
    select: Collection[str] | None = None,
    ignore: Collection[str] = (),
    generated: bool = False,
) -> Result:
    """Mend one source text as if it were the file `filename`.

    `select` and `ignore` are rule codes or prefixes of codes; `generated` mends files that are
    marked as generated from another file, too. Raises `graphmend.ir.source.SourceError` where the
    text cannot be parsed.
    """
    return _run(source, filename, Status.FIXED, unsafe, select, ignore, generated)


def check_source(
    source: str,
    filename: str,
    *,
    unsafe: bool = False,
    select: Collection[str] | None = None,
    ignore: Collection[str] = (),
    generated: bool = False,
) -> tuple[Finding, ...]:
    """The findings for one source text; nothing is changed. Arguments as in `fix_source`."""
    return _run(source, filename, Status.FIXABLE, unsafe, select, ignore, generated).findings


def _run(
    text: str,
    filename: str,
    done: Status,
    unsafe: bool,
    select: Collection[str] | None,
    ignore: Collection[str],
    generated: bool,
) -> Result:
    source = source_of(text, Path(filename))
    with paused():
        if not has_candidates(text):
            return Result(text, (), (), frozenset())
        # The pipeline is imported only for files that may need it: most do not.
        from graphmend.pipeline import Options, run

        chosen = None if select is None else tuple(sorted(select))
        options = Options(unsafe, chosen, tuple(sorted(ignore)), generated)
        return with_deep_stack(lambda: run(source, options, done))
