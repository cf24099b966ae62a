"""`graphmend.verify`: does the mended program do what the original does?"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphmend.findings import Trap
from graphmend.verification.arms import AOT_EAGER, BACKENDS, EAGER
from graphmend.verification.processes import WITHIN, Progress, run_sides
from graphmend.verification.references import Reference, TargetError
from graphmend.verification.report import Report, report_on
from graphmend.verification.reproduction import reproduce
from graphmend.verification.spec import Spec

__all__ = ["Report", "TargetError", "verify"]


def verify(
    fn: Callable[..., Any] | str,
    inputs: Iterable[Any] | str | None = None,
    *,
    backends: Sequence[str] = (EAGER, AOT_EAGER),
    packages: Sequence[str] | None = None,
    unsafe: bool = False,
    plain: bool = False,
    trap: str = "deferred",
    reproduction: str | os.PathLike[str] | None = None,
    progress: Progress = lambda text: None,
) -> Report:
    """Run `fn` as it is and mended, side by side, and compare all that a user could notice.

    `fn` is a module or a function, and `inputs` the arguments of its calls: each a tuple or list
    of arguments, a mapping of named ones, or the only argument. Both go to fresh processes, so
    that they must be importable by name, as for `multiprocessing`; a script calls this under
    `if __name__ == "__main__":`. Either may be a name instead, `"module:name"` or
    `"file.py:name"`; then `inputs` is a function that returns them. Without `inputs`, `fn` names
    a function without parameters that returns a pair of a callable and its inputs.

    `packages` are the names to mend, by default those of the packages that `fn` is made of;
    `unsafe`, `plain` and `trap` are as in `install`. `backends` are some of "eager", "aot_eager"
    and "inductor". Where the two differ, a folder with a script that shows it is written to
    `reproduction` (None: `graphmend-reproduction` in the current folder).

    Raises ValueError for an unknown backend or `trap`, `TargetError` where `fn` cannot be
    loaded or run, RuntimeError where a verification itself calls this.
    """
    if WITHIN in os.environ:
        raise RuntimeError('call graphmend.verify under `if __name__ == "__main__":`')
    unknown = [name for name in backends if name not in BACKENDS]
    if unknown or not backends:
        raise ValueError(f"backends are some of {', '.join(BACKENDS)}; not {unknown or 'none'}")
    spec = Spec(
        path=tuple(entry or os.getcwd() for entry in sys.path),
        packages=None if packages is None else tuple(packages),
        unsafe=unsafe,
        plain=plain,
        trap=str(Trap(trap)),
        backends=tuple(backends),
    )
    with tempfile.TemporaryDirectory(prefix="graphmend-verify-") as folder:
        spec = _with_program(spec, fn, inputs, Path(folder))
        original, mended = run_sides(spec, Path(folder), progress)
        report = report_on(_name(fn), original, mended)
        if report.equal:
            return report
        target = Path(reproduction or "graphmend-reproduction").resolve()
        script = reproduce(spec, report, original, target)
        return replace(report, reproduction=script)


def _with_program(
    spec: Spec, fn: Callable[..., Any] | str, inputs: Iterable[Any] | str | None, folder: Path
) -> Spec:
    if isinstance(fn, str):
        if inputs is not None and not isinstance(inputs, str):
            raise TypeError("where fn is a name, inputs is the name of a function, or None")
        for name in (fn, inputs):
            if name is not None:
                Reference.parse(name)
        return replace(spec, target=fn, inputs=inputs)
    if inputs is None or isinstance(inputs, str):
        raise TypeError("verify(fn, inputs) needs inputs, an iterable of arguments")
    return replace(spec, saved=_saved(fn, inputs, folder), main=_main_script())


def _saved(fn: Callable[..., Any], inputs: Iterable[Any], folder: Path) -> str:
    import torch

    path = folder / "program.pt"
    try:
        torch.save((fn, list(inputs)), path)
    except Exception as error:
        raise TargetError(
            f"{_name(fn)} cannot be handed to another process ({error}): define it at the top of "
            "a module, or name a function that makes it"
        ) from error
    return str(path)


def _main_script() -> str | None:
    """The file of the main program, where it has one that can be loaded again."""
    main = sys.modules["__main__"]
    if getattr(main, "__spec__", None) is not None:  # python -m
        return None
    file = getattr(main, "__file__", None)
    return os.path.abspath(file) if file and file.endswith(".py") else None


def _name(fn: object) -> str:
    return fn if isinstance(fn, str) else getattr(fn, "__qualname__", type(fn).__qualname__)
