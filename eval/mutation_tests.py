"""Running tests in a process of their own whose modules are changed, within a time limit."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from eval import mutation_hook
from eval.job import ROOT
from eval.mutation_hook import Mutation

_PRELOADED = ["torch", "torch._dynamo", "pytest"]
_OUTPUT_KEPT = 2000
# Python runs it at the start of every process; the changes hold in those that tests start, too.
_AT_START = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from eval import mutation_hook
sys.path.remove({str(ROOT)!r})
mutation_hook.install()
"""


class DidNotRun(Exception):
    """The tests did not come to an end of their own; the message has the end of their output."""


class TookTooLong(DidNotRun):
    """The tests were stopped at the time limit."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A test that ran: its id, whether it passed, and the seconds it took."""

    test: str
    passed: bool
    seconds: float


class _Results:
    """A plugin that writes a line a test that has run, as soon as it has."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds = 0.0
        self._passed = True

    def pytest_runtest_logstart(self) -> None:
        self._seconds, self._passed = 0.0, True

    def pytest_runtest_logreport(self, report: object) -> None:
        self._seconds += report.duration  # type: ignore[attr-defined]
        self._passed &= report.outcome != "failed"  # type: ignore[attr-defined]

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([nodeid, self._passed, self._seconds]) + "\n")


class Runner:
    """Runs tests of the project at `root` in processes that have torch loaded already."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(_PRELOADED)

    def run(self, tests: Sequence[str], mutation: Mutation, limit_s: float) -> list[Ran]:
        """Run tests, given as ids or paths, in order, up to the first that fails where a check is
        switched off. Raises DidNotRun, or TookTooLong after `limit_s` seconds."""
        with tempfile.TemporaryDirectory(prefix="graphmend-mutation-") as scratch:
            folder = Path(scratch)
            (folder / "sitecustomize.py").write_text(_AT_START, encoding="utf-8")
            options = [] if mutation.off is None else ["-x"]
            child = self._context.Process(
                target=_child,
                args=(str(self._root), scratch, [*options, *tests], mutation.to_environment()),
            )
            child.start()
            child.join(limit_s)
            late = child.is_alive()
            _end(child)
            output = (folder / "output.txt").read_text(encoding="utf-8", errors="replace")
            if late:
                raise TookTooLong(f"after {limit_s:.0f} s: {output[-_OUTPUT_KEPT:]}")
            if child.exitcode not in (0, 1):
                raise DidNotRun(f"exit {child.exitcode}: {output[-_OUTPUT_KEPT:]}")
            lines = (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
            return [Ran(*json.loads(line)) for line in lines]


def _end(child: BaseProcess) -> None:
    """End a process with all that it has started."""
    if child.pid is not None:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    child.join()


def _child(root: str, scratch: str, arguments: list[str], mutation: str) -> None:
    os.setsid()
    output = os.open(f"{scratch}/output.txt", os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.chdir(root)
    multiprocessing.set_start_method(None, force=True)  # that of this process is the runner's
    os.environ[mutation_hook.VARIABLE] = mutation
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [scratch, os.environ.get("PYTHONPATH")])
    )
    sys.path[:] = [root, *(entry for entry in sys.path if entry not in ("", str(ROOT)))]
    mutation_hook.install()
    import pytest

    quiet = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--show-capture=no", "--tb=short"]
    results = Path(scratch, "results.jsonl")
    results.touch()
    sys.exit(pytest.main([*quiet, *arguments], plugins=[_Results(results)]))
