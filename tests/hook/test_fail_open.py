"""Whatever goes wrong in mending, the program runs on with its own text."""

from __future__ import annotations

import sys
import warnings

import pytest

import graphmend
from graphmend import api
from graphmend.findings import Edit, Result
from graphmend.hook import HookWarning
from tests.hook.conftest import Write, load, python
from tests.hook.mender import Mender, mend

SITE = "def forward(x):\n    print(x)\n    return x\n"


def failing(error: Exception) -> object:
    """A mender that raises."""

    def fix_source(*args: object, **options: object) -> Result:
        raise error

    return fix_source


@pytest.mark.parametrize("error", [RuntimeError("broken"), RecursionError("deep"), MemoryError()])
@pytest.mark.semantics("S5", "refused")
def test_an_error_in_mending(
    write: Write, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(api, "fix_source", failing(error))
    write({"pkg.py": SITE})
    graphmend.install(["pkg"])
    with pytest.warns(HookWarning, match="pkg could not be mended and runs as it is") as caught:
        module = load("pkg")
    assert len(caught) == 1
    assert caught[0].filename.endswith("conftest.py")  # where the import was asked for
    assert module.forward(1) == 1
    assert type(error).__name__ in graphmend.status().failed["pkg"]
    assert "failed" in str(graphmend.status())
    with warnings.catch_warnings(record=True) as again:
        warnings.simplefilter("always")
        del sys.modules["pkg"]
        load("pkg")
    assert again == []


@pytest.mark.semantics("S5", "refused")
def test_warnings_as_errors_do_not_break_the_import(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(api, "fix_source", failing(RuntimeError("broken")))
    write({"pkg.py": SITE})
    graphmend.install(["pkg"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load("pkg").forward(1) == 1
    assert "pkg could not be mended" in capsys.readouterr().err


@pytest.mark.parametrize(
    "result",
    [
        Result("def forward(x:\n", (), (Edit(0, len(SITE), "def forward(x:\n", 1),), frozenset()),
        Result("x = 1\n", (), (Edit(0, 3, "", 1),), frozenset()),
        Result("x = 1\n", (), (Edit(0, 999, "x = 1\n", 1),), frozenset()),
        Result("x = 1\n", (), (), frozenset()),
        None,
    ],
    ids=["no Python", "other text", "outside", "no edits", "nothing"],
)
@pytest.mark.semantics("S5", "refused")
def test_a_wrong_result(write: Write, monkeypatch: pytest.MonkeyPatch, result: object) -> None:
    monkeypatch.setattr(api, "fix_source", lambda *args, **options: result)
    write({"pkg.py": SITE})
    graphmend.install(["pkg"])
    with pytest.warns(HookWarning, match="could not be mended"):
        assert load("pkg").forward(1) == 1
    assert list(graphmend.status().failed) == ["pkg"]


def test_a_result_that_fails_to_compile_is_not_tried_twice_in_silence(
    write: Write, fake_mender: Mender, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"pkg.py": SITE})
    graphmend.install(["pkg"])
    monkeypatch.setitem(sys.modules, "graphmend.runtime", None)  # what mended code would import
    with pytest.warns(HookWarning, match="could not be mended"):
        assert load("pkg").forward(1) == 1


def test_a_module_is_mended_again_once_the_cause_is_gone(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "fix_source", failing(RuntimeError("broken")))
    write({"pkg.py": SITE})
    graphmend.install(["pkg"])
    with pytest.warns(HookWarning):
        load("pkg")
    monkeypatch.setattr(api, "fix_source", lambda text, name, **options: mend(text, name))
    del sys.modules["pkg"]
    load("pkg")
    assert list(graphmend.status().mended) == ["pkg"]
    assert graphmend.status().failed == {}


def test_interrupts_are_not_swallowed(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object, **options: object) -> Result:
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "fix_source", interrupted)
    write({"pkg.py": SITE})
    graphmend.install(["pkg"])
    with pytest.raises(KeyboardInterrupt):
        load("pkg")


def test_a_file_of_another_encoding_fails_as_without_graphmend(write: Write) -> None:
    folder = write({})
    (folder / "pkg.py").write_bytes(b"name = '\xff'\n")
    graphmend.install(["pkg"])
    with pytest.raises(SyntaxError, match="unicode error|utf-8"):
        load("pkg")


def test_warnings_as_errors_on_the_command_line(write: Write) -> None:
    code = (
        "import graphmend, graphmend.api; graphmend.api.fix_source = None\n"
        "graphmend.install(['pkg']); import pkg; print(pkg.forward(1))\n"
    )
    ran = python("-W", "error", "-c", code, cwd=write({"pkg.py": SITE}))
    assert ran.stdout == "1\n1\n"
    assert ran.stderr.startswith("graphmend: pkg could not be mended")
