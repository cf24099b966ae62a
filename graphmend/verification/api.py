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
from graphmend.verification.processes import WITHIN, Progress, run_sides, run_sides_apart
from graphmend.verification.references import Reference, TargetError
from graphmend.verification.report import Report, report_on
from graphmend.verification.reproduction import reproduce
from graphmend.verification.sides import Side
from graphmend.verification.spec import Spec
from graphmend.verification.verdicts import Status

__all__ = ["Report", "TargetError", "verify", "verify_target"]
REPRODUCTION = "graphmend-reproduction"


def verify(
    fn: Callable[..., Any],
    inputs: Iterable[Any],
    *,
    backends: Sequence[str] = (EAGER, AOT_EAGER),
    packages: Sequence[str] | None = None,
    unsafe: bool = False,
    plain: bool = False,
    trap: str = "deferred",
    reproduction: str | os.PathLike[str] = REPRODUCTION,
) -> Report:
    """Run `fn` as it is and mended, side by side, and compare all that a user could notice.

    `fn` is a module or a function, `inputs` the arguments of its calls: each a tuple or list of
    arguments, a mapping of named ones, or the only argument. Both go to a fresh process, so that
    their classes and functions must be importable by name, as for `multiprocessing`; a script
    calls this under `if __name__ == "__main__":`.

    `packages` are the names to mend, by default those of the packages that `fn` is made of;
    `unsafe`, `plain` and `trap` are as in `install`. `backends` are some of "eager", "aot_eager"
    and "inductor". Where the two sides differ, a script that shows it is written to the folder
    `reproduction`.

    Raises ValueError for an unknown backend or `trap`, `TargetError` where `fn` cannot be handed
    over or run, FileExistsError where `reproduction` is taken, RuntimeError where a verification
    itself calls this.
    """
    if WITHIN in os.environ:
        raise RuntimeError('call graphmend.verify under `if __name__ == "__main__":`')
    spec = _spec(backends, packages, unsafe, plain, trap)
    with tempfile.TemporaryDirectory(prefix="graphmend-verify-") as folder:
        saved = _saved(fn, inputs, Path(folder))
        spec = replace(spec, saved=saved, main=_main_script())
        return _concluded(spec, _name(fn), run_sides_apart(spec, Path(folder)), reproduction)


def verify_target(
    target: str,
    inputs: str | None,
    *,
    backends: Sequence[str] = (EAGER, AOT_EAGER),
    packages: Sequence[str] | None = None,
    unsafe: bool = False,
    plain: bool = False,
    trap: str = "deferred",
    reproduction: str | os.PathLike[str] = REPRODUCTION,
    progress: Progress = lambda text: None,
) -> Report:
    """`verify` for a program that is named, as on the command line, in forks of this process."""
    for name in (target, inputs):
        if name is not None:
            Reference.parse(name)
    spec = _spec(backends, packages, unsafe, plain, trap)
    spec = replace(spec, target=target, inputs=inputs)
    return _concluded(spec, target, run_sides(spec, progress), reproduction)


def _spec(
    backends: Sequence[str], packages: Sequence[str] | None, unsafe: bool, plain: bool, trap: str
) -> Spec:
    unknown = [name for name in backends if name not in BACKENDS]
    if unknown or not backends:
        raise ValueError(f"backends are some of {', '.join(BACKENDS)}, not {unknown or 'none'}")
    return Spec(
        path=tuple(entry or os.getcwd() for entry in sys.path),
        packages=None if packages is None else tuple(packages),
        unsafe=unsafe,
        plain=plain,
        trap=str(Trap(trap)),
        backends=tuple(backends),
    )


def _concluded(
    spec: Spec, name: str, found: tuple[Side, Side], reproduction: str | os.PathLike[str]
) -> Report:
    original, mended = found
    report = report_on(name, original, mended)
    if all(arm.status is Status.NOT_RUN for arm in report.arms):
        raise TargetError(f"the original cannot be run: {report.arms[0].note}")
    if report.equal:
        return report
    script = reproduce(spec, report, original, Path(reproduction).resolve())
    return replace(report, reproduction=script)


def _saved(fn: Callable[..., Any], inputs: Iterable[Any], folder: Path) -> str:
    import torch

    path = folder / "program.pt"
    try:
        torch.save((fn, list(inputs)), path)
    except Exception as error:
        raise TargetError(
            f"{_name(fn)} cannot be handed to another process ({error}); what it consists of must "
            "be defined at the top of a module"
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
    return getattr(fn, "__qualname__", type(fn).__qualname__)
