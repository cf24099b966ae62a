"""What other people's CI runs: the GitHub action's step and the pre-commit hooks."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SITE = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x / x.max().item()
"""


def environment(**more: str) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, **more}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "clean.py").write_text("import torch\n")
    (tmp_path / "site.py").write_text(SITE)
    return tmp_path


@pytest.mark.parametrize(
    ("paths", "options", "code"),
    [
        (".", "", 1),
        ("site.py clean.py", "--ignore GM1", 1),
        ("clean.py", "", 0),
        (".", "--ignore GM501 --quiet", 0),
        ("missing.py", "", 2),
    ],
)
def test_the_action_fails_where_sites_are_left(
    sources: Path, paths: str, options: str, code: int
) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    step = action["runs"]["steps"][-1]
    assert set(step["env"]) == {"PATHS", "OPTIONS"}
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=sources,
        env=environment(PATHS=paths, OPTIONS=options),
        capture_output=True,
    )
    assert ran.returncode == code


@pytest.mark.parametrize(
    "hook", yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()), ids=lambda h: h["id"]
)
def test_a_pre_commit_hook_fails_where_sites_are_left(sources: Path, hook: dict[str, str]) -> None:
    command = shlex.split(hook["entry"])
    for names, code in ((["clean.py"], 0), (["clean.py", "site.py"], 1)):
        ran = subprocess.run([*command, *names], cwd=sources, env=environment())
        assert ran.returncode == code
