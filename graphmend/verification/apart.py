"""Work in a process of its own, which begins as this one is now."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import torch

from graphmend.verification.verdicts import Failure

Value = TypeVar("Value")


def apart(work: Callable[[], Value], log: Path | None = None) -> Value | Failure:
    """What `work` returns in a fork of this process; a Failure where it raises or dies.

    What it writes to the console goes to the file `log`, if there is one.
    """
    with tempfile.TemporaryDirectory(prefix="graphmend-arm-") as folder:
        path = Path(folder) / "result.pt"
        process = multiprocessing.get_context("fork").Process(target=_child, args=(work, path, log))
        process.start()
        process.join()
        if not path.exists():
            return Failure(f"its process ended with exit status {process.exitcode}")
        found: Value | Failure = torch.load(path, weights_only=False)
        return found


def _child(work: Callable[[], Value], path: Path, log: Path | None) -> None:
    if log is not None:
        with log.open("wb") as stream:
            for descriptor in (1, 2):
                os.dup2(stream.fileno(), descriptor)
    found = _tried(work)
    partial = path.with_suffix(".partial")
    try:
        torch.save(found, partial)
    except Exception as error:  # what was found cannot be handed over
        torch.save(Failure(f"{type(error).__name__}: {error}"), partial)
    os.replace(partial, path)


def _tried(work: Callable[[], Value]) -> Value | Failure:
    try:
        return work()
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        return Failure(f"{type(error).__name__}: {error}{place}")
