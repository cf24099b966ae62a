"""The Python that a row runs in: this one, or a virtual environment with the wanted versions."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import platformdirs

from eval.job import ROOT


def python_for(requires: Sequence[str]) -> str:
    """An interpreter that has the pinned packages, each `name==version`.

    This one where it does. Else that of a virtual environment in the user's cache folder, made the
    first time: torch as constrained, this checkout, and the packages. Raises RuntimeError with
    what pip says where one cannot be installed.
    """
    if all(map(_is_installed, requires)):
        return sys.executable
    digest = hashlib.sha256("\n".join([sys.version, *requires]).encode()).hexdigest()[:12]
    folder = Path(platformdirs.user_cache_dir("graphmend")) / "eval" / digest
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        _run(str(python), "-m", "pip", "install", "-q", *_constrained("torch"))
        _run(str(python), "-m", "pip", "install", "-q", "-e", str(ROOT), *_wanted(requires))
        ready.touch()
    return str(python)


def _is_installed(pinned: str) -> bool:
    name, _, version = pinned.partition("==")
    try:
        return metadata.version(name) == version
    except metadata.PackageNotFoundError:
        return False


def _constrained(*names: str) -> list[str]:
    """The lines of the constraints file about some packages."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    return [line for line in lines if line.partition("==")[0] in names]


def _wanted(requires: Sequence[str]) -> list[str]:
    """What to install beside this checkout, without another torch."""
    return [*_constrained("torch", "numpy", "tqdm"), *requires]


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()[-2000:]}")
