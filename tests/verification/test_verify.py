"""`graphmend verify` from its target to its exit status, each side in processes of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import graphmend
from graphmend.cli import main
from graphmend.verification.references import TargetError

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
"""
PLAIN = """\
import torch


def twice(x):
    return x * 2


def integers():
    return twice, [torch.arange(3), {"x": torch.arange(4)}]
"""
# What is planted: the mended module has a name that the original has not.
WRONG = """\
import torch

from helpers import check


def total(x):
    check(x)
    print("sum", x.sum().item())
    return x + int("deferred_effect" in globals())


def make():
    return total, [torch.arange(3)]
"""
PROGRAMS = {"helpers": HELPERS, "model": MODEL, "plain": PLAIN, "wrong": WRONG}
Ran = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def command(tmp_path: Path) -> Ran:
    """Run `python ARGS` in a folder with the programs."""
    for name, text in PROGRAMS.items():
        (tmp_path / f"{name}.py").write_text(text)

    def run(*args: str, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *args]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True)

    return run


def test_a_right_mend_passes(command: Ran) -> None:
    verify = ["-m", "graphmend", "verify", "model.py:Net", "--inputs", "model.py:batches"]
    done = command(*verify, "--backend", "eager", "--format", "json")
    assert done.returncode == 0, done.stderr + done.stdout
    report = json.loads(done.stdout)
    assert report["equal"] is True
    assert {f["code"] for found in report["mended"].values() for f in found} == {"GM301", "GM202"}
    assert set(report["mended"]) == {"model", "helpers"}
    before, after = report["before"], report["after"]
    assert (before["fullgraph"], after["fullgraph"]) == (False, True)
    assert (before["replayable"], after["replayable"]) == (False, True)
    assert before["reasons"] and not after["reasons"]
    assert {arm["status"] for arm in report["arms"]} == {"equal"}
    settings = [arm["arm"]["setting"] for arm in report["arms"]]
    assert {(s["dtype"], s["training"]) for s in settings} == {
        (dtype, training) for dtype in (None, "float16") for training in (False, True)
    }


def test_a_target_that_is_left_alone_passes(command: Ran) -> None:
    done = command("-m", "graphmend", "verify", "plain:integers", "--backend", "eager")
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stdout.startswith("nothing was mended")
    assert "plain:integers: the mended program does what the original does" in done.stdout


def test_a_difference_can_be_seen_again_elsewhere(command: Ran, tmp_path: Path) -> None:
    verify = ["-m", "graphmend", "verify", "wrong.py:make", "--backend", "eager"]
    done = command(*verify, "--reproduction", "shown")
    assert done.returncode == 1, done.stderr + done.stdout
    difference = "int64[3] strides (1,) cpu [0, 1, 2]"
    assert difference in done.stdout and "DIFFERS" in done.stdout
    elsewhere = tmp_path / "elsewhere"
    shutil.move(tmp_path / "shown", elsewhere)
    for name in PROGRAMS:
        (tmp_path / f"{name}.py").unlink()
    assert "deferred_effect" in (elsewhere / "mended" / "wrong.py").read_text()
    assert (elsewhere / "original" / "wrong.py").read_text() == WRONG
    again = command(str(elsewhere / "reproduce.py"), cwd=tmp_path.parent)
    assert again.returncode == 1, again.stderr + again.stdout
    assert difference in again.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["model.py"], "neither module:name nor file.py:name"),
        (["nowhere.py:f"], "no such file"),
        (["model.py:batches", "--backend", "xla"], "'xla' is not one of"),
    ],
)
def test_wrong_usage_exits_with_2(
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["graphmend", "verify", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert said in capsys.readouterr().err


def test_a_target_that_cannot_be_run_exits_with_2(command: Ran) -> None:
    done = command("-m", "graphmend", "verify", "plain.py:twice")
    assert done.returncode == 2
    assert "takes arguments (x)" in done.stderr


def test_what_another_process_cannot_load_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="must be defined at the top of a module"):
        graphmend.verify(lambda x: x, [torch.ones(2)])


def test_from_python_a_function_and_its_inputs_are_enough(command: Ran, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import graphmend, torch\n\n\n"
        "def own(x: torch.Tensor):\n"
        "    print('sum', x.sum().item())\n"
        "    return x + 1\n\n\n"
        "if __name__ == '__main__':\n"
        "    report = graphmend.verify(own, [torch.arange(3)], backends=['eager'])\n"
        "    print(report.equal, report.before.breaks, report.after.breaks)\n"
    )
    done = command("script.py")
    assert done.stdout == "True 1 0\n", done.stderr
