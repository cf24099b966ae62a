"""The program as a process: what it imports, closed pipes, several workers, the cache folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODEL = """\
import logging

import torch

logger = logging.getLogger(__name__)


class Model(torch.nn.Module):
    def forward(self, x):
        logger.warning("called")
        return x + 1
"""


def start(*args: str, cwd: Path, **settings: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "graphmend", *args],
        cwd=cwd,
        env={**os.environ, **settings},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run(*args: str, cwd: Path, **settings: str) -> tuple[int, str, str]:
    process = start(*args, cwd=cwd, **settings)
    out, err = process.communicate()
    return process.returncode, out, err


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["check", "--help"], ["check", "plain.py"], ["fix", "plain.py"]],
)
def test_what_needs_no_mending_loads_no_heavy_module(tmp_path, arguments):
    (tmp_path / "plain.py").write_text("import os\n\nprint(os.name)\n")
    program = (
        "import sys; from graphmend.cli import main; sys.argv[1:] = sys.argv[1:]\n"
        "try: main()\n"
        "finally: print([m for m in ('libcst', 'networkx', 'torch', 'difflib',"
        " 'multiprocessing', 'concurrent.futures') if m in sys.modules], file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=tmp_path, text=True, capture_output=True
    )
    assert ran.returncode == 0
    assert ran.stderr.splitlines()[-1] == "[]"


def test_check_and_fix_never_load_torch(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    program = (
        "import sys; from graphmend.cli import main\n"
        "try: main()\n"
        "finally: print('torch' in sys.modules, file=sys.stderr)"
    )
    for command in ("check", "fix"):
        ran = subprocess.run(
            [sys.executable, "-c", program, command, "--no-cache", "model.py"],
            cwd=tmp_path,
            text=True,
            capture_output=True,
        )
        assert ran.stderr.splitlines()[-1] == "False"


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    for arguments in (["check", "model.py"], ["explain", "GM202"], ["--help"]):
        process = start(*arguments, cwd=tmp_path)
        assert process.stdout is not None
        process.stdout.close()
        _, err = process.communicate()
        assert process.returncode in (0, 1)
        assert "BrokenPipe" not in err
        assert "Traceback" not in err


def test_output_that_cannot_be_written_is_an_error(tmp_path):
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "graphmend", "explain", "GM202"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert ran.returncode == 2
    assert ran.stderr == "error: cannot write the output: No space left on device\n"


def test_several_processes_give_the_same_as_one(tmp_path):
    for number in range(20):
        text = "import torch\nx = 1\0\n" if number % 3 else MODEL
        (tmp_path / f"m{number}.py").write_text(text)
    one, two = (run("check", "-j", n, "--no-cache", ".", cwd=tmp_path) for n in "12")
    assert one == two
    code, out, err = one
    assert code == 2
    assert len(out.splitlines()) == 7
    assert err.count("NUL byte") == 13


@pytest.mark.semantics("S2", "legal")
def test_fix_mends_a_model_once_and_check_agrees(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    assert run("check", "model.py", cwd=tmp_path)[:2] == (
        1,
        "model.py:10:9: GM202 log record in a traced function: `logger.warning(..)` [fixable]\n",
    )
    assert run("fix", ".", cwd=tmp_path) == (0, "", "1 site mended in 1 file\n")
    mended = (tmp_path / "model.py").read_text()
    assert "from graphmend.runtime import deferred_effect" in mended
    assert run("fix", ".", cwd=tmp_path) == (0, "", "0 sites mended in 0 files\n")
    assert (tmp_path / "model.py").read_text() == mended
    assert run("check", ".", cwd=tmp_path)[0] == 0


def test_stored_results_are_those_of_a_fresh_run(tmp_path, cache_folder):
    (tmp_path / "model.py").write_text(MODEL)
    first, second = (run("fix", "--diff", "model.py", cwd=tmp_path) for _ in "12")
    assert first == second == run("fix", "--diff", "--no-cache", "model.py", cwd=tmp_path)
    assert any(cache_folder.iterdir())


def test_no_cache_stores_nothing(tmp_path, cache_folder):
    (tmp_path / "model.py").write_text(MODEL)
    run("check", "--no-cache", "model.py", cwd=tmp_path)
    assert not any(cache_folder.iterdir())


def test_a_cache_folder_that_cannot_be_written_costs_one_line(tmp_path):
    for number in range(4):
        (tmp_path / f"m{number}.py").write_text(MODEL)
    (tmp_path / "taken").write_text("a file")
    code, out, err = run("check", ".", cwd=tmp_path, GRAPHMEND_CACHE_DIR=str(tmp_path / "taken"))
    assert (code, len(out.splitlines())) == (1, 4)
    assert err.count("cache folder") == 1
    assert len(err.splitlines()) == 2


def test_syntax_errors_have_a_line(tmp_path):
    (tmp_path / "a.py").write_text("import torch\n\ndef f(:\n    print(1)\n")
    (tmp_path / "b.py").write_text("def f(:\n")
    code, out, err = run("check", ".", cwd=tmp_path)
    assert (code, out) == (2, "")
    assert err.splitlines()[0].startswith("error: a.py: line 3: ")
    assert err.splitlines()[1].startswith("error: b.py: line 1: ")


def test_run_passes_everything_after_the_program_on(tmp_path):
    (tmp_path / "p.py").write_text("import sys\nprint(sys.argv, __name__)\nsys.exit(5)\n")
    code, out, err = run("run", "p.py", "--help", "-m", "--", "-q", cwd=tmp_path)
    assert (code, out) == (5, "['p.py', '--help', '-m', '--', '-q'] __main__\n")
    assert err == ""


def test_run_takes_a_module(tmp_path):
    (tmp_path / "p.py").write_text("import sys\nprint(sys.argv[1:], __spec__.name)\n")
    assert run("run", "-m", "p", "a", cwd=tmp_path) == (0, "['a'] p\n", "")


def test_run_shows_an_exception_as_python_does(tmp_path):
    (tmp_path / "p.py").write_text("raise OSError('no')\n")
    code, out, err = run("run", "p.py", cwd=tmp_path)
    assert (code, out) == (1, "")
    assert err == (
        "Traceback (most recent call last):\n"
        f'  File "{tmp_path}/p.py", line 1, in <module>\n'
        "    raise OSError('no')\n"
        "OSError: no\n"
    )


@pytest.mark.parametrize(
    "arguments", [["gone.py"], ["--packages", "./models", "p.py"], ["--package", "p", "p.py"]]
)
def test_run_refuses_what_it_cannot_start(tmp_path, arguments):
    (tmp_path / "p.py").write_text("print('ran')\n")
    code, out, err = run("run", *arguments, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert err


def test_run_mends_the_packages_it_is_told_to(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models/__init__.py").write_text(MODEL)
    (tmp_path / "p.py").write_text(
        "import models\nprint([name for name in vars(models) if name.startswith('_forward')])\n"
    )
    code, out, _ = run("run", "--packages", "models", "p.py", cwd=tmp_path)
    assert (code, out) == (0, "['_forward_log']\n")
    assert run("run", "p.py", cwd=tmp_path)[1] == "[]\n"
    assert (tmp_path / "models/__init__.py").read_text() == MODEL
