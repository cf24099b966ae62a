"""Processes for jobs, forked from one that has imported the library already: `-m eval.zoo.nursery`.

Importing torch and a model library costs more than most measurements. So one process an arm does
it once, the mended one with the import hook installed before, and every job runs in a child of its
own: what a job compiles, writes or breaks ends with its child.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import IO, Any

from eval.job import ROOT, private_environment
from eval.worker import install
from eval.zoo.jobs import CPU_LIMIT_S, WALL_LIMIT_S, Arm, Job
from eval.zoo.libraries import library
from eval.zoo.worker import run

_OUTPUT_KEPT = 2000
_POLL_S = 0.02
_MEMORY = 10 << 30


class Nursery:
    """The process of one arm, started when the first job is given to it."""

    def __init__(self, source: str, arm: Arm, folder: Path) -> None:
        self._source, self._arm, self._folder = source, arm, folder
        self._process: subprocess.Popen[str] | None = None

    def __call__(self, job: Job) -> dict[str, Any]:
        """Run a job in a child; its result, with `failure` where it did not end well.

        What was measured before a child died or ran out of time is kept.
        """
        path = job.save()
        if self._process is None:
            self._process = self._start()
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            self.close()
            failure: str | None = "the process that starts the others died"
        else:
            failure = json.loads(answer)["failure"]
        result: dict[str, Any] = {"variants": {}}
        if job.result.exists():
            result = json.loads(job.result.read_text(encoding="utf-8"))
        return {**result, "failure": failure}

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            with self._process:  # closes its input, which ends it, and waits
                pass
            self._process = None

    def _start(self) -> subprocess.Popen[str]:
        self._folder.mkdir(parents=True, exist_ok=True)
        return subprocess.Popen(
            [sys.executable, "-m", "eval.zoo.nursery", self._source, self._arm],
            cwd=ROOT,
            env=_environment(self._folder, self._arm),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )


def _environment(folder: Path, arm: str) -> dict[str, str]:
    """As for other measurements, but analyses are kept where the user's are, for later runs."""
    environment = private_environment(folder, arm)
    del environment["GRAPHMEND_CACHE_DIR"]
    return environment


def serve(source: str, arm: str, jobs: IO[str], answers: IO[str]) -> None:
    """Import what jobs need, then run each job file named on a line of `jobs` in a child."""
    known = library(source)
    mend_error = install((known.PACKAGE,)) if arm == "mended" else None
    known.preload()
    from eval.zoo import build, count  # noqa: F401  # imported once, here

    for line in jobs:
        failure = _child(Job.load(Path(line.strip())), mend_error)
        answers.write(json.dumps({"failure": failure}) + "\n")
        answers.flush()


def _child(job: Job, mend_error: str | None) -> str | None:
    """Run a job in a child; how it failed, or None."""
    log = Path(job.folder) / f"{job.label}.log"
    child = os.fork()
    if child == 0:
        os._exit(_run(job, mend_error, log))
    deadline = time.monotonic() + WALL_LIMIT_S
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"no result after {WALL_LIMIT_S:.0f} s"
        time.sleep(_POLL_S)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGXCPU:
        return f"no result after {CPU_LIMIT_S} s of processor time"
    said = log.read_text(encoding="utf-8", errors="replace")[-_OUTPUT_KEPT:].strip()
    return None if code == 0 else f"exit {code}: {said}"


def _run(job: Job, mend_error: str | None, log: Path) -> int:
    """In the child: the job, with its output in `log`; the exit code."""
    with log.open("wb") as output, open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S + 5))
    try:
        run(job, mend_error)
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print while they are imported is no answer
    serve(sys.argv[1], sys.argv[2], sys.stdin, answers)
