"""Importing a package and its modules in a fresh process: which of them fail, and how."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

from eval.job import ROOT
from eval.tree_sources import Tree

_TIME_LIMIT_S = 900
_MESSAGE_KEPT = 300

Failures = dict[str, str]


def module_name(package: str, path: str) -> str:
    """The dotted name of the file at `path`, which starts at the folder of `package`."""
    parts = [package, *Path(path).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_failures(tree: Tree, modules: Sequence[str]) -> Failures:
    """The modules that do not import, each with the error; the package itself comes first.

    A process that dies is a failure of all of them.
    """
    with tempfile.TemporaryDirectory(prefix="graphmend-imports-") as folder:
        job, result = Path(folder, "modules.json"), Path(folder, "failures.json")
        job.write_text(json.dumps([tree.package.name, *modules]), encoding="utf-8")
        command = [sys.executable, "-m", "eval.tree_imports", str(job), str(result)]
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=_environment(tree),
                capture_output=True,
                text=True,
                timeout=_TIME_LIMIT_S,
            )
        except subprocess.TimeoutExpired:
            return dict.fromkeys([tree.package.name, *modules], "no result in time")
        if not result.exists():
            end = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
            return dict.fromkeys([tree.package.name, *modules], end)
        found: Failures = json.loads(result.read_text(encoding="utf-8"))
    # Messages name files; where the tree lies is no difference.
    return {module: text.replace(str(tree.site), "") for module, text in found.items()}


def _environment(tree: Tree) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GRAPHMEND", "PYTHON"))}
    path = os.pathsep.join([str(tree.site), str(tree.needs), str(ROOT)])
    return {
        **kept,
        "PYTHONPATH": path,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "HF_HUB_OFFLINE": "1",
    }


def _main(job: str, result: str) -> None:
    warnings.simplefilter("ignore")
    failures: Failures = {}
    for name in json.loads(Path(job).read_text(encoding="utf-8")):
        try:
            importlib.import_module(name)
        except BaseException as error:  # modules of a library may raise anything, SystemExit too
            failures[name] = f"{type(error).__name__}: {error}"[:_MESSAGE_KEPT]
    Path(result).write_text(json.dumps(failures), encoding="utf-8")


if __name__ == "__main__":
    _main(*sys.argv[1:])
