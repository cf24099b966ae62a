"""What the tests of the import hook share."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import graphmend
from graphmend import api
from graphmend.hook import finder
from graphmend.hook.record import Record

from . import mender

Write = Callable[[dict[str, str]], Path]
HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def fresh_hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test starts without hooks, records, cache or modules of another test."""
    monkeypatch.setenv("GRAPHMEND_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("GRAPHMEND_DISABLE", raising=False)
    monkeypatch.delenv("GRAPHMEND_TRACE", raising=False)
    monkeypatch.setattr(finder, "_record", Record())
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    before = set(sys.modules)
    yield
    graphmend.uninstall()
    for name in set(sys.modules) - before:
        namespace = object.__getattribute__(sys.modules[name], "__dict__")  # wakes no lazy module
        if (namespace.get("__file__") or "").startswith(str(tmp_path)):
            del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture
def fake_mender(monkeypatch: pytest.MonkeyPatch) -> mender.Mender:
    """A deterministic mender in place of the real one; it counts its calls."""
    fake = mender.Mender()
    monkeypatch.setattr(api, "fix_source", fake)
    return fake


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write files into a folder that is on `sys.path`; the folder."""
    folder = tmp_path / "src"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        importlib.invalidate_caches()
        return folder

    return write


def load(name: str) -> ModuleType:
    """Import a module by name."""
    return importlib.import_module(name)


def python(
    *args: str | Path, cwd: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a Python process in `cwd`, with the fake mender importable as `mender`."""
    full = {**os.environ, "PYTHONPATH": str(HERE), **(env or {})}
    full.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(
        [sys.executable, *map(str, args)],
        cwd=cwd,
        env=full,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
