"""The processes of a verification.

A process that has compiled nothing yet is forked for the original and for the mended side. Either
imports the program and is forked again for every arm, so that none sees what another left behind.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

from graphmend.verification.apart import apart
from graphmend.verification.copies import MENDED, ORIGINAL
from graphmend.verification.one_side import run_side
from graphmend.verification.references import TargetError
from graphmend.verification.sides import Side
from graphmend.verification.spec import Spec
from graphmend.verification.verdicts import Failure

Progress = Callable[[str], None]
WITHIN = "GRAPHMEND_VERIFYING"
_SHOWN = 2000
# What compiling imports is imported once, and not in every fork: it takes longer than most arms.
_COMPILING = ("torch._dynamo", "functorch.compile", "networkx")


def run_sides(spec: Spec, progress: Progress = lambda text: None) -> tuple[Side, Side]:
    """The original and the mended side, run by forks of this process.

    It must have imported nothing of the program, and compiled nothing; it is left with one thread
    for torch. TargetError where the program cannot be loaded.
    """
    if not hasattr(os, "fork"):
        raise TargetError("verify needs a system on which processes can be forked")
    torch.set_num_threads(1)  # a fork has no other thread, and there is one order of summation
    if spec.arms is None or any(arm.backend for arm in spec.arms):
        for name in _COMPILING:
            importlib.import_module(name)
    progress("running the original program ..")
    original = _forked(spec, ORIGINAL, None)
    progress("running the mended program ..")
    return original, _forked(spec, MENDED, original)


def run_sides_apart(spec: Spec, folder: Path) -> tuple[Side, Side]:
    """`run_sides` in a fresh process, with files in `folder`: this one may have compiled."""
    path, result = folder / "spec.json", folder / "sides.pt"
    spec.save(path)
    command = [sys.executable, "-m", "graphmend.verification.worker", str(path), str(result)]
    places = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    environment = {**os.environ, "PYTHONPATH": places}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if not result.exists():
        raise TargetError(f"its process ended ({done.returncode}): {done.stderr[-_SHOWN:].strip()}")
    found: tuple[Side, Side] | str = torch.load(result, weights_only=False)
    if isinstance(found, str):
        raise TargetError(found)
    return found


def _forked(spec: Spec, side: str, original: Side | None) -> Side:
    with tempfile.TemporaryDirectory(prefix="graphmend-side-") as folder:
        log = Path(folder) / "output"
        found = apart(lambda: _within(spec, side, original), log)
        if isinstance(found, Failure):
            said = log.read_text(errors="replace")[-_SHOWN:].strip()
            raise TargetError("\n".join(filter(None, (found.message, said))))
    if found.error is not None:
        raise TargetError(found.error if side == ORIGINAL else f"the mended side: {found.error}")
    return found


def _within(spec: Spec, side: str, original: Side | None) -> Side:
    os.environ[WITHIN] = "1"
    return run_side(spec, side, original)
