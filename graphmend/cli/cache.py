"""Stored results: what mending a text gave the last time, while nothing it rests on changed."""

from __future__ import annotations

import functools
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from graphmend import api
from graphmend.cli.discovery import reason
from graphmend.cli.options import Options
from graphmend.findings import Finding
from graphmend.ir.prescan import has_candidates
from graphmend.ir.source import Source
from graphmend.session import Session, use

if TYPE_CHECKING:
    from graphmend.hook.store import Store


class _Wanted(TypedDict):
    unsafe: bool
    select: tuple[str, ...] | None
    generated: bool
    plain: bool
    trap: str


def problem() -> str | None:
    """Why results cannot be stored, in one line, or None where they can."""
    from graphmend.hook.store import default_folder

    folder = default_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"the cache folder {folder} cannot be written ({reason(error)}); not using it"


def mend(source: Source, filename: str, options: Options) -> tuple[str, tuple[Finding, ...]]:
    """The mended text of `source` and the findings, stored or made anew. Errors as in `api`."""
    # A text without candidates is done faster than a stored result is found.
    if not options.cache or not has_candidates(source.text):
        result = _fresh(source, filename, options)
        return result.source, result.findings
    return _stored(source, filename, options)


def _stored(source: Source, filename: str, options: Options) -> tuple[str, tuple[Finding, ...]]:
    from graphmend.edits import apply
    from graphmend.hook import digests, store
    from graphmend.hook.entry import Entry

    place = os.path.abspath(filename)
    wanted = repr(sorted(_wanted(options).items()))
    key = digests.combined(digests.tool(), "command line", place, wanted, source.text)
    results = _results(store.default_folder())
    known = results.find(key)
    if known is not None:
        return apply(source.text, known.entry.edits), known.entry.findings
    began = store.now()
    result = _fresh(source, filename, options)
    results.keep(key, Entry(result.edits, result.findings), result.consulted, began)
    return result.source, result.findings


@functools.cache
def _results(folder: Path) -> Store:
    from graphmend.hook.store import Store

    return Store(folder)


@functools.cache
def _session() -> Session:
    """What the files of one run share; this process does not outlive the run."""
    return Session()


def _fresh(source: Source, filename: str, options: Options) -> api.Result:
    with use(_session()):
        return api.fix_source(
            source.text,
            filename,
            **_wanted(options),
        )


def _wanted(options: Options) -> _Wanted:
    """What of the options decides about the result."""
    return {
        "unsafe": options.unsafe,
        "select": options.select,
        "generated": options.generated,
        "plain": options.plain,
        "trap": options.trap,
    }
