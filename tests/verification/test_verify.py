"""`graphmend verify` from its target to its exit status, each side in processes of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HELPERS = """\
def check(x):
    if (x < 0).any():
        raise ValueError(f"negative: {x.min().item()}")
"""
MODEL = """\
import logging

import torch
from torch import nn

from helpers import check

log = logging.getLogger(__name__)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        check(x)
        log.warning("largest %s", x.max().item())
        return self.layer(x)


def batches():
    yield torch.ones(2, 3)
    yield -torch.ones(2, 3)


def still(x):
    return x * 2
"""
Ran = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def command(tmp_path: Path) -> Ran:
    """Run `python ARGS` in a folder with the model."""
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "model.py").write_text(MODEL)

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, *args], cwd=tmp_path, capture_output=True, text=True)

    return run


def test_a_right_mend_passes(command: Ran) -> None:
    verify = ["-m", "graphmend", "verify", "model.py:Net", "--inputs", "model.py:batches"]
    done = command(*verify, "--backend", "eager", "--format", "json")
    assert done.returncode == 0, done.stderr + done.stdout
    report = json.loads(done.stdout)
    assert report["equal"] is True
    assert {f["code"] for found in report["mended"].values() for f in found} == {"GM301", "GM202"}
    assert set(report["mended"]) == {"model", "helpers"}
    assert (report["before"]["fullgraph"], report["after"]["fullgraph"]) == (False, True)
    assert (report["before"]["replayable"], report["after"]["replayable"]) == (False, True)
    assert report["before"]["reasons"] and not report["after"]["reasons"]
    assert {arm["status"] for arm in report["arms"]} == {"equal"}
    assert any(arm["arm"]["setting"]["dtype"] == "float16" for arm in report["arms"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["model.py"], "neither module:name nor file.py:name"),
        (["nowhere.py:f"], "no such file"),
        (["model.py:batches", "--backend", "xla"], "'xla' is not one of"),
        (["model.py:still"], "takes arguments (x)"),
    ],
)
def test_what_cannot_be_verified_exits_with_2(command: Ran, arguments: Any, said: str) -> None:
    done = command("-m", "graphmend", "verify", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
