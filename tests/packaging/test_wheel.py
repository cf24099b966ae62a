"""The wheel, built from the source distribution and run in a fresh environment without torch."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from graphmend.version import __version__

ROOT = Path(__file__).parents[2]
MODEL = """\
import logging

import torch

logger = logging.getLogger(__name__)


class Model(torch.nn.Module):
    def forward(self, x):
        logger.warning("called")
        return x + 1
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    program = folder / "bin" / "python"
    constraints = str(ROOT / "constraints.txt")
    install = [str(program), "-m", "pip", "install", "-q", "-c", constraints, str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    return program


def run(python: Path, *args: str, cwd: Path) -> tuple[int, str]:
    ran = subprocess.run(
        [str(python.with_name("graphmend")), *args],
        cwd=cwd,
        text=True,
        capture_output=True,
        env={"GRAPHMEND_CACHE_DIR": os.environ["GRAPHMEND_CACHE_DIR"]},
    )
    return ran.returncode, ran.stdout


def test_the_wheel_holds_the_package_and_the_catalogue_only(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"graphmend", wheel_metadata(names)}
    for name in (
        "graphmend/py.typed",
        "graphmend/data/operators.json",
        "graphmend/_rules/logger-call/rule.toml",
        "graphmend/_rules/logger-call/README.md",
    ):
        assert name in names
    assert f"{wheel_metadata(names)}/licenses/LICENSE" in names


def wheel_metadata(names: list[str]) -> str:
    (folder,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
    return folder


def test_it_runs_without_torch(python: Path, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    assert run(python, "--version", cwd=tmp_path) == (0, f"graphmend {__version__}\n")
    code, out = run(python, "explain", "GM202", cwd=tmp_path)
    assert code == 0
    assert out.startswith("# GM202 logger-call\n")
    code, out = run(python, "check", "model.py", cwd=tmp_path)
    assert code == 1
    assert out.startswith("model.py:10:9: GM202 ")
    assert out.endswith(" [fixable]\n")
    assert run(python, "fix", "model.py", cwd=tmp_path) == (0, "")
    assert "@deferred_effect" in (tmp_path / "model.py").read_text()
    assert run(python, "check", ".", cwd=tmp_path) == (0, "")


def test_the_api_works_without_torch(python: Path, tmp_path: Path) -> None:
    program = (
        "import sys, graphmend\n"
        "text = sys.stdin.read()\n"
        "print([f.code for f in graphmend.check_source(text, 'model.py')])\n"
        "print('deferred_effect' in graphmend.fix_source(text, 'model.py').source)\n"
        "print('torch' in sys.modules)\n"
    )
    ran = subprocess.run(
        [str(python), "-c", program], input=MODEL, cwd=tmp_path, text=True, capture_output=True
    )
    assert ran.stdout == "['GM202']\nTrue\nFalse\n"
