"""Running both sides, each in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from graphmend.verification.copies import MENDED, ORIGINAL
from graphmend.verification.references import TargetError
from graphmend.verification.sides import Side
from graphmend.verification.spec import Spec

Progress = Callable[[str], None]
WITHIN = "GRAPHMEND_VERIFYING"
_SHOWN = 2000


def run_sides(spec: Spec, folder: Path, progress: Progress) -> tuple[Side, Side]:
    """The original and the mended side; TargetError where one cannot be run at all."""
    spec.save(folder / "spec.json")
    original = _run(folder, ORIGINAL, progress)
    return original, _run(folder, MENDED, progress)


def _run(folder: Path, side: str, progress: Progress) -> Side:
    import torch

    progress(f"running the {side} program ..")
    result = folder / f"{side}.pt"
    command = [sys.executable, "-m", "graphmend.verification.worker"]
    command += [str(folder / "spec.json"), side, str(result)]
    if side == MENDED:
        command.append(str(folder / f"{ORIGINAL}.pt"))
    done = subprocess.run(command, env=_environment(), capture_output=True, text=True)
    if not result.exists():
        said = (done.stderr or done.stdout)[-_SHOWN:].strip()
        raise TargetError(f"the process of the {side} side ended ({done.returncode}): {said}")
    found: Side = torch.load(result, weights_only=False)
    if found.error is not None:
        where = "" if side == ORIGINAL else f"the {side} side: "
        raise TargetError(where + found.error)
    return found


def _environment() -> dict[str, str]:
    """One thread, for one order of summation; and a worker knows that it is one."""
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    threads = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    return {**os.environ, **threads, "PYTHONPATH": path, WITHIN: "1"}
