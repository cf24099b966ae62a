"""A piece of work for one fresh process, and running it there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

Arm = Literal["original", "mended"]
Task = Literal["eager", "compiled", "count"]

ROOT = Path(__file__).resolve().parent.parent
TIME_LIMIT_S = 900
_OUTPUT_KEPT = 3000


class WorkerError(Exception):
    """A worker process died, ran out of time or wrote no result."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker is to do. `weights`, `tensors` and `result` are paths of files."""

    builder: str
    packages: tuple[str, ...]
    arm: Arm
    task: Task
    weights: str
    tensors: str
    result: str

    @classmethod
    def load(cls, path: Path) -> Job:
        """Read a job that `run_job` wrote."""
        data = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{**data, "packages": tuple(data["packages"])})


def run_job(
    job: Job, folder: Path, python: str = sys.executable, time_limit_s: float = TIME_LIMIT_S
) -> dict[str, Any]:
    """Run a job in a fresh process of `python`, with caches of its own below `folder`.

    Returns its result.

    Raises WorkerError with the end of the process's output.
    """
    path = folder / f"{job.arm}-{job.task}.job.json"
    path.write_text(json.dumps(asdict(job)))
    try:
        done = subprocess.run(
            [python, "-m", "eval.worker", str(path)],
            cwd=ROOT,
            env=private_environment(folder, f"{job.arm}-{job.task}"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=time_limit_s,
        )
    except subprocess.TimeoutExpired as error:
        raise WorkerError(f"no result after {time_limit_s:.0f} s") from error
    if done.returncode != 0 or not Path(job.result).exists():
        raise WorkerError(f"exit {done.returncode}: {done.stdout[-_OUTPUT_KEPT:].strip()}")
    result: dict[str, Any] = json.loads(Path(job.result).read_text(encoding="utf-8"))
    return result


def private_environment(folder: Path, name: str) -> dict[str, str]:
    """This process's environment without what changes measurements, with caches of its own."""
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("TORCH", "PYTHONWARNINGS", "TRANSFORMERS_", "PYTHONHASHSEED"))
    }
    return {
        **environment,
        "HF_HUB_OFFLINE": "1",
        "PYTHONHASHSEED": "0",  # code digests hold the text of sets
        "OMP_NUM_THREADS": "1",  # one order of summation, whatever else the machine does
        "TORCHINDUCTOR_CACHE_DIR": str(folder / f"{name}-inductor"),
        "TRITON_CACHE_DIR": str(folder / f"{name}-triton"),
        "GRAPHMEND_CACHE_DIR": str(folder.parent / "graphmend-store"),
    }
