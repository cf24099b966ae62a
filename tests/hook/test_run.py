"""`run_program` starts a program as `python` does, with its sites mended."""

from __future__ import annotations

import signal
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.hook.conftest import HERE, Write, python

START = """\
import sys
import mender, graphmend.api
graphmend.api.fix_source = mender.Mender()
from graphmend.hook.run import run_program
flag, packages, target, *args = sys.argv[1:]
names = [p for p in packages.split(",") if p]
sys.exit(run_program(target, args, module=flag == "-m", packages=names))
"""

SHOW = """\
import sys
import atexit
import inspect
import pickle
import threading


class Thing:
    def say(self, x):
        print("said", x)


def late():
    threading.main_thread().join()
    print("thread", sys.modules["__main__"].Thing is Thing)


def main():
    Thing().say(1)
    print(sys.argv)
    print(__name__, __package__, __file__, __spec__ and __spec__.name, __doc__)
    print(sys.path[0])
    print(sys.modules["__main__"].Thing is Thing, type(pickle.loads(pickle.dumps(Thing()))))
    print(inspect.getsource(Thing.say).splitlines()[0])
    print("mended:", "_outlined" in " ".join(globals()))


if __name__ == "__main__":
    atexit.register(lambda: print("exit", sys.modules["__main__"].Thing is Thing))
    threading.Thread(target=late).start()
    main()
"""


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """A script that runs programs with the fake mender."""
    path = tmp_path / "start.py"
    path.write_text(START)
    return path


def both(
    start: Path, folder: Path, flag: str, target: str, *args: str, packages: str = ""
) -> tuple[subprocess.CompletedProcess[str], subprocess.CompletedProcess[str]]:
    """The program under graphmend, and under plain Python."""
    plain = ["-m", target, *args] if flag == "-m" else [target, *args]
    return (
        python(start, flag or "-s", packages, target, *args, cwd=folder),
        python(*plain, cwd=folder),
    )


def same(ran: subprocess.CompletedProcess[str], plain: subprocess.CompletedProcess[str]) -> None:
    """Both exited alike and printed the same."""
    assert (ran.returncode, ran.stderr, ran.stdout) == (
        plain.returncode,
        plain.stderr,
        plain.stdout,
    )


@pytest.mark.parametrize(
    "target",
    ["missing.py", "-m missing", "-m missing.part", "-m pkg", "-m pkg.broken", "-m json.tool.x"],
)
def test_programs_that_do_not_start(write: Write, start: Path, target: str) -> None:
    folder = write({"pkg/__init__.py": "", "pkg/broken.py": "def f(:\n"})
    flag, _, name = target.rpartition(" ")
    ran, plain = both(start, folder, flag, name)
    assert ran.returncode == plain.returncode != 0
    assert ran.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]


def test_a_script(write: Write, start: Path) -> None:
    folder = write({"sub/show.py": SHOW})
    ran, plain = both(start, folder, "", "sub/show.py", "-x", "--packages", "a b")
    assert ran.stderr == plain.stderr == ""
    assert ran.stdout == plain.stdout.replace("mended: False", "mended: True")
    assert "mended: True" in ran.stdout
    assert not list(folder.rglob("*.pyc"))


def test_a_module(write: Write, start: Path) -> None:
    folder = write({"pkg/__init__.py": "", "pkg/show.py": SHOW})
    ran, plain = both(start, folder, "-m", "pkg.show", "-m", "x")
    assert ran.stderr == plain.stderr == ""
    assert ran.stdout == plain.stdout.replace("mended: False", "mended: True")
    assert "mended: True" in ran.stdout


@pytest.mark.parametrize("kind", ["package", "folder", "archive"])
def test_packages_folders_and_archives(write: Write, start: Path, kind: str) -> None:
    folder = write({"app/__init__.py": "", "app/__main__.py": SHOW})
    with zipfile.ZipFile(folder / "app.zip", "w") as archive:
        archive.write(folder / "app/__main__.py", "__main__.py")
    flag, target = {"package": ("-m", "app"), "folder": ("", "app"), "archive": ("", "app.zip")}[
        kind
    ]
    ran, plain = both(start, folder, flag, target, "x")
    mended = "mended: False" if kind == "archive" else "mended: True"
    assert mended in ran.stdout, ran.stderr
    assert ran.stdout == plain.stdout.replace("mended: False", mended)


def test_packages_named_are_mended_too(write: Write, start: Path) -> None:
    site = "def forward(x):\n    print(x)\n"
    folder = write(
        {
            "script.py": "import graphmend, one, two\n"
            "print(sorted(graphmend.status().mended), graphmend.status().clean)\n",
            "one.py": site,
            "two.py": site,
        }
    )
    ran, _ = both(start, folder, "", "script.py", packages="one")
    assert ran.stdout == "['one'] ('__main__',)\n", ran.stderr


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("sys.exit()", 0),
        ("sys.exit(7)", 7),
        ("sys.exit('a message')", 1),
        ("raise SystemExit(None)", 0),
        ("raise ValueError('bad')", 1),
        ("1 / 0", 1),
        ("os._exit(5)", 5),
    ],
)
@pytest.mark.parametrize("flag", ["", "-m"])
def test_exit_statuses_and_tracebacks(
    write: Write, start: Path, body: str, status: int, flag: str
) -> None:
    text = f"import os, sys\n\n\ndef main():\n    print('on', flush=True)\n    {body}\n\n\nmain()\n"
    folder = write({"script.py": text})
    ran, plain = both(start, folder, flag, "script" if flag else "script.py")
    assert ran.returncode == plain.returncode == status
    assert ran.stdout == plain.stdout == "on\n"
    runpy = 'File "<frozen runpy>"'
    assert ran.stderr.splitlines() == [
        line for line in plain.stderr.splitlines() if runpy not in line
    ]


def test_a_script_with_a_syntax_error(write: Write, start: Path) -> None:
    same(*both(start, write({"script.py": "x = 1\ndef f(:\n"}), "", "script.py"))


def test_an_interrupt_ends_the_program(write: Write, start: Path) -> None:
    folder = write({"script.py": "import signal\nsignal.raise_signal(signal.SIGINT)\n"})
    ran, plain = both(start, folder, "", "script.py")
    assert plain.returncode == -signal.SIGINT
    assert ran.returncode == 128 + signal.SIGINT
    assert ran.stderr == plain.stderr


@pytest.mark.parametrize("flags", [["-P"], ["-I"]])
def test_safe_paths_stay_safe(write: Write, start: Path, flags: list[str]) -> None:
    folder = write({"script.py": "import sys; print(sys.path)\n"})
    run = f"import sys; sys.path.append({str(HERE)!r}); " + START.replace("\n", "; ", 3).replace(
        "; sys", "\nsys"
    )
    ran = python(*flags, "-c", run, "-s", "", "script.py", cwd=folder)
    assert str(folder) not in ran.stdout
    assert ran.returncode == 0, ran.stderr


def test_spawned_processes_find_the_main_module(write: Write, start: Path) -> None:
    text = (
        "import multiprocessing\n\n\ndef work(x):\n    print('working')\n    return x + 1\n\n\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(work, [1, 2], chunksize=2))\n"
    )
    folder = write({"script.py": text})
    ran, plain = both(start, folder, "", "script.py")
    assert ran.returncode == 0, ran.stderr
    assert sorted(ran.stdout.splitlines()) == sorted(plain.stdout.splitlines())


def test_disabled(write: Write, start: Path) -> None:
    folder = write({"show.py": SHOW})
    ran = python(start, "-s", "", "show.py", cwd=folder, env={"GRAPHMEND_DISABLE": "1"})
    assert ran.stdout == python("show.py", cwd=folder).stdout


def test_a_program_that_cannot_be_mended_runs_as_it_is(write: Write, tmp_path: Path) -> None:
    folder = write({"show.py": SHOW})
    start = tmp_path / "broken.py"
    start.write_text(START.replace("mender.Mender()", "None"))
    ran = python(start, "-s", "", "show.py", cwd=folder)
    assert ran.stdout == python("show.py", cwd=folder).stdout
    assert ran.stderr.startswith(
        f"{folder / 'show.py'}:1: HookWarning: __main__ could not be mended"
    )
