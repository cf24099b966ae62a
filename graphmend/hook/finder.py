"""The import hook itself.

It replaces `SourceFileLoader.get_code` while it is installed. A finder on `sys.meta_path` would
miss modules that are loaded through `spec_from_file_location`, which asks no finder. And as the
code of mended modules is never handed to the part of `get_code` that writes `.pyc` files, none
is written for them, and those of all other modules are what they are without graphmend.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, TracebackType

from graphmend.findings import Trap
from graphmend.hook.names import (
    Cover,
    Options,
    cover,
    covering_name,
    disabled,
    is_test_module,
    options_for,
)
from graphmend.hook.record import HookStatus, Record, loaded_from_file
from graphmend.hook.warn import trace, warn

GetCode = Callable[[SourceFileLoader, str], CodeType | None]

_lock = threading.RLock()
_covers: tuple[Cover, ...] = ()
_record = Record()
_patch: _Patch | None = None
# Mending a module may import these; they cannot wait for it.
_USED = frozenset({"libcst", "networkx", "platformdirs"})


class Installation:
    """What `install` returns: a context manager that uninstalls its own packages at the end."""

    def __init__(self, covered: Cover) -> None:
        self._cover = covered

    @property
    def packages(self) -> tuple[str, ...]:
        """The names this installation covers."""
        return self._cover.names

    def uninstall(self) -> None:
        """Mend no further modules for this installation. Modules that were mended stay so."""
        _remove({self._cover})

    def __enter__(self) -> Installation:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.uninstall()


def install(
    packages: Iterable[str], *, unsafe: bool = False, plain: bool = False, trap: str = "deferred"
) -> Installation:
    """Mend the modules of `packages` as they are imported from now on.

    `packages` are dotted names; each stands for itself and all below it. Only `.py` files are
    mended, no test modules, and nothing that has been imported already (one warning). With
    `unsafe`, fixes that rest on a named assumption are applied too; `plain` leaves out those that
    need graphmend's runtime; with `trap` "async", guards become asserts inside the graph. Calls
    add up; for a module that several cover, the longest name decides, then the newest call.

    Raises TypeError if `packages` is a string, ValueError for anything but dotted names and for
    another `trap`.
    """
    return cover_with(packages, Options(unsafe, plain, Trap(trap)))


def cover_with(packages: Iterable[str], options: Options) -> Installation:
    """`install`, with the options as one value."""
    global _covers, _patch
    covered = cover(packages, options)
    with _lock:
        _covers = (*_covers, covered)
        if _patch is None:
            _patch = _Patch()
    _note_imported(covered)
    return Installation(covered)


def uninstall() -> None:
    """Undo every `install`. Modules that were mended stay so."""
    _remove(set(_covers))


def status() -> HookStatus:
    """What has been mended, refused, skipped and failed so far in this process."""
    covers = _covers
    packages = tuple(dict.fromkeys(name for c in covers for name in c.names))
    return _record.snapshot(packages, disabled(), _unseen(covers))


def attempt(loader: SourceFileLoader, module: str) -> tuple[CodeType | None, str | None]:
    """The mended code of `module`, None where the original is to be used; and why it failed."""
    covers = _covers
    options = options_for(module, covers)
    if options is None or disabled():
        return None, None
    try:
        skip = _reason_to_skip(loader, module, covers)
        if skip is None:
            from graphmend.hook import mending

            return mending.mended_code(loader, module, options, _record), None
        _record.skip(module, skip)
        trace(f"{module}: skipped: {skip}")
        return None, None
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def announce(module: str, failure: str, program: str | None = None) -> None:
    """Record that `module` runs as it is because mending it failed; warn the first time.

    `program` is the file of the main program, if it is that.
    """
    trace(f"{module}: failed: {failure}")
    if _record.fail(module, failure):
        warn(f"{module} could not be mended and runs as it is ({failure})", program)


def _reason_to_skip(loader: SourceFileLoader, module: str, covers: Iterable[Cover]) -> str | None:
    name = covering_name(module, covers)
    if name is not None and is_test_module(module, name):
        return "test module"
    if not loader.path.endswith(".py"):
        return "not a .py file"
    mending = sys.modules.get("graphmend.hook.mending")
    if module.partition(".")[0] in _USED or (mending is not None and mending.is_mending()):
        return "used by graphmend itself"
    return None


class _Patch:
    """`SourceFileLoader.get_code` with the hook in front of what was there before."""

    def __init__(self) -> None:
        self._own = SourceFileLoader.__dict__.get("get_code")
        previous: GetCode = SourceFileLoader.get_code

        def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
            code, failure = attempt(loader, fullname) if self.active else (None, None)
            if code is None:
                code = previous(loader, fullname)  # raises for a file that is no Python
                if failure is not None:
                    announce(fullname, failure)
            return code

        self.active = True
        self._get_code = get_code
        setattr(SourceFileLoader, "get_code", get_code)  # noqa: B010 - mypy refuses a plain store

    def remove(self) -> None:
        """Undo; where another tool has put its own on top, stay below it and pass all on."""
        self.active = False
        if SourceFileLoader.__dict__.get("get_code") is not self._get_code:
            return
        if self._own is None:
            delattr(SourceFileLoader, "get_code")
        else:
            setattr(SourceFileLoader, "get_code", self._own)  # noqa: B010 - as above


def _remove(gone: set[Cover]) -> None:
    global _covers, _patch
    with _lock:
        _covers = tuple(c for c in _covers if c not in gone)
        if not _covers and _patch is not None:
            _patch.remove()
            _patch = None


def _note_imported(covered: Cover) -> None:
    late = []
    for module, spec in _loaded((covered,)):
        if not _file(spec).endswith(".py"):
            continue
        if getattr(spec, "_initializing", False):
            _record.skip(module, "was being imported when graphmend.install ran")
        else:
            _record.skip(module, "had been imported before graphmend.install ran")
            late.append(module)
    if late and not disabled():
        shown = ", ".join(late[:3]) + (f" and {len(late) - 3} more" if len(late) > 3 else "")
        warn(
            f"imported before graphmend.install ran, and left as it is: {shown}; "
            "install graphmend before the first import of the packages it is to mend"
        )


def _unseen(covers: Iterable[Cover]) -> dict[str, str]:
    """Modules of the covered packages that were loaded past the hook, and why."""
    unseen = {}
    for module, spec in _loaded(covers):
        name = covering_name(module, covers)
        if name is not None and is_test_module(module, name):
            unseen[module] = "test module"
        elif not _file(spec).endswith(".py"):
            unseen[module] = "not a .py file"
        else:
            unseen[module] = f"loaded by {type(spec.loader).__name__}, past the hook"
    return unseen


def _loaded(covers: Iterable[Cover]) -> Iterator[tuple[str, ModuleSpec]]:
    """The modules of the covered packages that are loaded and not on record."""
    for module, loaded in list(sys.modules.items()):
        if covering_name(module, covers) is not None and not _record.knows(module):
            spec = loaded_from_file(loaded)
            if spec is not None:
                yield module, spec


def _file(spec: ModuleSpec) -> str:
    return spec.origin or ""
