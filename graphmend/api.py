"""The Python API: check or fix one source text."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from graphmend.collector import paused
from graphmend.deep import with_deep_stack
from graphmend.findings import Edit, Finding, Result, Status, Trap
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
    plain: bool = False,
    trap: str = "deferred",
) -> Result:
    """Mend one source text as if it were the file `filename`.

    `select` and `ignore` are rule codes or prefixes of codes; `generated` mends files that are
    marked as generated from another file, too; `plain` leaves out fixes that import graphmend at
    run time; with `trap` "async", guards become asserts inside the graph. Raises
    `graphmend.ir.source.SourceError` where the text cannot be parsed, ValueError for another
    `trap`.
    """
    return _run(source, filename, Status.FIXED, unsafe, select, ignore, generated, plain, trap)


def check_source(
    source: str,
    filename: str,
    *,
    unsafe: bool = False,
    select: Collection[str] | None = None,
    ignore: Collection[str] = (),
    generated: bool = False,
    plain: bool = False,
    trap: str = "deferred",
) -> tuple[Finding, ...]:
    """The findings for one source text; nothing is changed. Arguments as in `fix_source`."""
    done = Status.FIXABLE
    return _run(source, filename, done, unsafe, select, ignore, generated, plain, trap).findings


def _run(
    text: str,
    filename: str,
    done: Status,
    unsafe: bool,
    select: Collection[str] | None,
    ignore: Collection[str],
    generated: bool,
    plain: bool,
    trap: str,
) -> Result:
    source, mode = source_of(text, Path(filename)), Trap(trap)
    with paused():
        if not has_candidates(text):
            return Result(text, (), (), frozenset())
        # The pipeline is imported only for files that may need it: most do not.
        from graphmend.pipeline import Options, run

        chosen = None if select is None else tuple(sorted(select))
        options = Options(
            unsafe=unsafe,
            select=chosen,
            ignore=tuple(sorted(ignore)),
            generated=generated,
            plain=plain,
            trap=mode,
        )
        return with_deep_stack(lambda: run(source, options, done))
