"""From a module's loader to the code object of its mended source."""

from __future__ import annotations

import ast
import importlib
import os
import threading
import types
import warnings
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import decode_source
from pathlib import Path

from graphmend import api, session
from graphmend.collector import paused
from graphmend.edits import apply
from graphmend.findings import Status
from graphmend.hook import digests, store
from graphmend.hook.entry import Entry
from graphmend.hook.lines import Origin, line_origins
from graphmend.hook.names import Options
from graphmend.hook.positions import relocate
from graphmend.hook.record import Record
from graphmend.hook.warn import trace
from graphmend.ir.prescan import has_candidates

_PLAIN = SourceFileLoader.source_to_code
_HEAVY = ("libcst", "networkx")

# One module is mended at a time; what mending imports has been imported before (no deadlock
# between this lock and the import system's), and imports made while mending go past the hook.
_mending = threading.Lock()
_within: ContextVar[bool] = ContextVar("graphmend_mending", default=False)


def is_mending() -> bool:
    """Whether this context is in the middle of mending, so that an import serves graphmend."""
    return _within.get()


@cache
def _session() -> session.Session:
    """What modules that are mended one after another share."""
    return session.Session()


@cache
def _store(folder: Path) -> store.Store:
    return store.Store(folder)


def mended_code(
    loader: SourceFileLoader, module: str, options: Options, record: Record
) -> types.CodeType | None:
    """The code of `module` with its sites mended, or None where there is nothing to mend.

    Its lines are those of the file. May raise anything: the caller then loads the original.
    """
    path = os.path.abspath(loader.get_filename(module))
    data = loader.get_data(path)
    results = _store(store.default_folder())
    source_key = digests.combined(digests.tool(), path, repr(options), data)
    stored = results.find(source_key)
    known = stored is not None
    if stored is None:
        stored = _mend_and_keep(results, source_key, decode_source(data), path, options)
    entry = stored.entry
    code = _code(results, stored, loader, data, path) if entry.edits else None
    record.seen(module, entry.findings, changed=code is not None)
    _trace(module, path, entry, known)
    return code


def _mend_and_keep(
    results: store.Store, source_key: str, text: str, path: str, options: Options
) -> store.Stored:
    began = store.now()
    entry, consulted = _mend(text, path, options)
    return store.Stored(entry, results.keep(source_key, entry, consulted, began))


def _mend(text: str, path: str, options: Options) -> tuple[Entry, Iterable[Path]]:
    token = _within.set(True)
    try:
        with paused():
            needed = _HEAVY if has_candidates(text) else ()
        for name in needed:
            importlib.import_module(name)
        with _mending, session.use(_session()):
            # A generated file is not to be edited; mending it as it loads edits nothing.
            result = api.fix_source(
                text,
                path,
                unsafe=options.unsafe,
                generated=True,
                plain=options.plain,
                trap=options.trap,
            )
    finally:
        _within.reset(token)
    if apply(text, result.edits) != result.source:
        raise RuntimeError("the edits do not give the mended text")
    return Entry(tuple(result.edits), tuple(result.findings)), result.consulted


def _code(
    results: store.Store, stored: store.Stored, loader: SourceFileLoader, data: bytes, path: str
) -> types.CodeType:
    importlib.import_module("graphmend.runtime")  # what mended code imports: fail here, not there
    # Other tools' loaders make other code of the same tree, and may do so differently each time.
    plain = type(loader).source_to_code is _PLAIN
    code = results.code(stored.key) if plain and stored.key is not None else None
    if code is None:
        code = _compiled(loader, decode_source(data), stored.entry, path)
        if plain and stored.key is not None:
            results.keep_code(stored.key, code)
    return code


def _compiled(loader: SourceFileLoader, text: str, entry: Entry, path: str) -> types.CodeType:
    origins = line_origins(text, entry.edits)
    tree = _parsed(apply(text, entry.edits), origins, path)
    relocate(tree, origins, text)
    if type(loader).source_to_code is _PLAIN:
        return loader.source_to_code(tree, path)
    try:
        # It is to take what compile() takes: a loader that rewrites trees gets ours.
        return loader.source_to_code(tree, path)
    except Exception as error:
        kind = f"{type(loader).__module__}.{type(loader).__name__}"
        raise TypeError(f"{kind} does not take syntax trees ({error})") from error


def _parsed(mended: str, origins: Sequence[Origin], path: str) -> ast.Module:
    """The tree of the mended text; what Python warns about is said of the original's lines."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tree = ast.parse(mended, path)
    for warning in caught:
        line = origins[min(warning.lineno, len(origins)) - 1].first
        warnings.warn_explicit(warning.message, warning.category, path, line)
    return tree


def _trace(module: str, path: str, entry: Entry, known: bool) -> None:
    fixed = sum(f.status is Status.FIXED for f in entry.findings)
    left = len(entry.findings) - fixed
    origin = "stored" if known else "analysed"
    what = f"{fixed} mended, {left} left" if entry.edits or entry.findings else "no break sites"
    trace(f"{module}: {what} ({origin}) [{path}]")


def _after_fork() -> None:
    global _mending
    _mending = threading.Lock()  # its holder does not exist in the child
    _within.set(False)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
