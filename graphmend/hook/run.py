"""Run a program as `python script.py` or `python -m module` does, with the import hook on."""

from __future__ import annotations

import builtins
import functools
import io
import os
import pkgutil
import runpy
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType, TracebackType

from graphmend.findings import Trap
from graphmend.hook import finder
from graphmend.hook.names import Options

_MAIN = "__main__"
_INTERRUPTED = 130


class _CannotStart(Exception):
    """There is no such program; the message is what Python would say."""


def run_program(
    target: str,
    args: Sequence[str],
    *,
    module: bool = False,
    packages: Sequence[str] = (),
    unsafe: bool = False,
    plain: bool = False,
    trap: str = "deferred",
) -> int:
    """Run the script `target` (or, with `module`, the module of that name) as the main program.

    The program's own file is mended, and the modules of `packages` as they are imported. Returns
    the exit status: 0; 1 after an uncaught exception, shown as Python shows it, or for an unknown
    module; 2 for a script that cannot be read. SystemExit is passed on as raised. The program
    stays `__main__` afterwards, for its threads and exit handlers: call this last.

    `unsafe`, `plain` and `trap` are as in `install`. Raises ValueError where `packages` holds
    anything but dotted names, and for another `trap`.
    """
    options = Options(unsafe, plain, Trap(trap))
    finder.cover_with(packages, options)
    if module:
        return _run_module(target, args, options)
    return _run_script(target, args, options)


def _run_script(target: str, args: Sequence[str], options: Options) -> int:
    path = os.path.abspath(target)
    sys.argv[:] = [target, *args]
    if pkgutil.get_importer(path) is not None:
        return _run_folder(path, options)
    try:
        with io.open_code(path) as stream:
            data = stream.read()
    except OSError as error:
        reason = f"[Errno {error.errno}] {error.strerror}"
        print(f"{sys.executable}: can't open file {path!r}: {reason}", file=sys.stderr)
        return 2
    _first_on_path(os.path.dirname(os.path.realpath(path)))
    loader = SourceFileLoader(_MAIN, path)
    main = _new_main(path, loader, None)

    def body() -> None:
        original = functools.partial(compile, data, path, "exec", dont_inherit=True)
        exec(_code(loader, _MAIN, original, options), main)

    return _exit_status(body)


def _run_folder(path: str, options: Options) -> int:
    """Run the `__main__.py` in a folder or archive, which becomes the first place for imports."""
    if sys.flags.safe_path:
        sys.path.insert(0, path)
    _first_on_path(path)
    del sys.modules[_MAIN]  # or it would be taken for the module that is looked for
    return _exit_status(lambda: _run_found(_MAIN, options, rename=False))


def _run_module(target: str, args: Sequence[str], options: Options) -> int:
    sys.argv[:] = ["-m", *args]
    _first_on_path(os.getcwd())

    return _exit_status(lambda: _run_found(target, options, rename=True))


def _run_found(target: str, options: Options, *, rename: bool) -> None:
    # Resolves packages to their __main__ and words its errors as `python -m` does.
    name, spec, original = runpy._get_module_details(target, _CannotStart)  # type: ignore[attr-defined]
    code = original
    if isinstance(spec.loader, SourceFileLoader):
        code = _code(spec.loader, name, lambda: original, options)
    if rename:
        sys.argv[0] = spec.origin
    exec(code, _new_main(spec.origin, spec.loader, spec))


def _code(
    loader: SourceFileLoader, name: str, original: Callable[[], CodeType], options: Options
) -> CodeType:
    """The code of the program's own file, mended where it can be."""
    finder.cover_with([name], options)
    code, failure = finder.attempt(loader, name)
    if code is None:
        code = original()
        if failure is not None:
            finder.announce(name, failure, loader.path)
    return code


def _new_main(path: str, loader: object, spec: ModuleSpec | None) -> dict[str, object]:
    """Put a fresh `__main__` in place; its namespace."""
    main = ModuleType(_MAIN)
    sys.modules[_MAIN] = main
    main.__dict__.update(
        __file__=path,
        __cached__=None if spec is None else spec.cached,
        __loader__=loader,
        __spec__=spec,
        __package__=None if spec is None else spec.parent,
        __builtins__=builtins,
    )
    return main.__dict__


def _first_on_path(folder: str) -> None:
    """The first entry of `sys.path` is the program's, not graphmend's."""
    if not sys.flags.safe_path:
        sys.path[0:1] = [folder]


def _exit_status(body: Callable[[], object]) -> int:
    try:
        body()
    except SystemExit:
        raise
    except _CannotStart as error:
        print(f"{sys.executable}: {error}", file=sys.stderr)
        return 1
    except BaseException as error:
        traceback = _without_own_frames(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        return _INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    return traceback
