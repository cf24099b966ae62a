"""Modules are mended as they load, however they are loaded."""

from __future__ import annotations

import importlib.util
import io
import sys
import threading
from contextlib import redirect_stdout
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

import graphmend
from graphmend.findings import Status
from tests.hook.conftest import Write, load, python
from tests.hook.mender import Mender

SITE = "def forward(x):\n    print(x)\n    return x\n"
REFUSED = "import sys\n\n\ndef forward(x):\n    print(x, file=sys.stderr)\n    print(x)\n"


def is_mended(module: object) -> bool:
    """Whether the site in the module's `forward` is a call of an outlined function."""
    return any(name.startswith("_outlined") for name in vars(module))


def test_modules_of_the_package_are_mended(write: Write, fake_mender: Mender) -> None:
    write({"pkg/__init__.py": "", "pkg/model.py": SITE, "pkg/plain.py": "x = 1\n"})
    with graphmend.install(["pkg"]):
        model, plain = load("pkg.model"), load("pkg.plain")
    out = io.StringIO()
    with redirect_stdout(out):
        assert model.forward(3) == 3
    assert out.getvalue() == "3\n"
    assert is_mended(model) and not is_mended(plain)
    status = graphmend.status()
    assert [f.line for f in status.mended["pkg.model"]] == [2]
    assert set(status.clean) == {"pkg", "pkg.plain"}


def test_a_module_can_be_mended_in_part(write: Write, fake_mender: Mender) -> None:
    write({"pkg.py": REFUSED})
    graphmend.install(["pkg"])
    load("pkg")
    status = graphmend.status()
    assert [f.line for f in status.mended["pkg"]] == [6]
    assert [f.line for f in status.refused["pkg"]] == [5]
    assert all(f.status is Status.REFUSED for f in status.refused["pkg"])
    text = str(status)
    assert "line 6" in text and "writes to a file" in text


def test_names_of_subpackages(write: Write, fake_mender: Mender) -> None:
    write(
        {"pkg/__init__.py": SITE, "pkg/a.py": SITE, "pkg/sub/__init__.py": "", "pkg/sub/b.py": SITE}
    )
    graphmend.install(["pkg.sub"])
    load("pkg.a"), load("pkg.sub.b")
    assert set(graphmend.status().mended) == {"pkg.sub.b"}


def test_relative_imports_and_namespace_packages(write: Write, fake_mender: Mender) -> None:
    write({"space/pkg/__init__.py": "from .a import forward\n", "space/pkg/a.py": SITE})
    graphmend.install(["space"])
    load("space.pkg")
    assert set(graphmend.status().mended) == {"space.pkg.a"}
    assert graphmend.status().skipped == {}


def test_modules_loaded_from_a_file_location(write: Write, fake_mender: Mender) -> None:
    folder = write({"downloads/1ab/model.py": SITE})
    graphmend.install(["dynamic_modules.my-repo"])
    name = "dynamic_modules.my-repo.1ab.model"
    spec = importlib.util.spec_from_file_location(name, folder / "downloads/1ab/model.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert is_mended(module)
    assert set(graphmend.status().mended) == {name}


def test_reload_sees_the_new_text(write: Write, fake_mender: Mender) -> None:
    folder = write({"pkg.py": SITE})
    graphmend.install(["pkg"])
    module = load("pkg")
    (folder / "pkg.py").write_text("\n\n" + SITE)
    importlib.reload(module)
    assert [f.line for f in graphmend.status().mended["pkg"]] == [4]
    assert module.forward.__code__.co_firstlineno == 3


def test_nested_installs_compose(write: Write, fake_mender: Mender) -> None:
    write({f"{name}.py": SITE for name in ("one", "two", "three")})
    with graphmend.install(["one", "two"]):
        inner = graphmend.install(["two", "three"])
        load("three")
        inner.uninstall()
        inner.uninstall()
        load("two")
    load("one")
    assert set(graphmend.status().mended) == {"two", "three"}


def test_the_longest_name_decides_the_options(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {}

    def fix_source(source: str, filename: str, *, unsafe: bool, **rest: object) -> object:
        given[Path(filename).stem] = unsafe
        return Mender()(source, filename)

    monkeypatch.setattr("graphmend.api.fix_source", fix_source)
    write({"pkg/__init__.py": "", "pkg/a.py": SITE, "pkg/b.py": SITE})
    graphmend.install(["pkg.a"], unsafe=True)
    graphmend.install(["pkg"])
    load("pkg.a"), load("pkg.b")
    assert given == {"__init__": False, "a": True, "b": False}


def test_threads_may_import_at_once(write: Write, fake_mender: Mender) -> None:
    names = [f"mod_{i}" for i in range(12)]
    write({f"{name}.py": SITE for name in names})
    graphmend.install(names)
    threads = [threading.Thread(target=load, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(graphmend.status().mended) == set(names)


def test_encodings_line_ends_and_byte_order_marks(write: Write, fake_mender: Mender) -> None:
    folder = write({})
    text = "# coding: latin-1\nNAME = 'é'\n\n\ndef forward(x):\n    print(x, NAME)\n"
    (folder / "latin.py").write_bytes(text.encode("latin-1"))
    (folder / "crlf.py").write_bytes(b"\xef\xbb\xbf" + SITE.replace("\n", "\r\n").encode())
    graphmend.install(["latin", "crlf"])
    assert load("latin").NAME == "é"
    load("crlf")
    assert set(graphmend.status().mended) == {"latin", "crlf"}


@pytest.mark.parametrize("bytecode", ["", "1"])
def test_no_bytecode_file_is_written_for_a_mended_module(
    write: Write, fake_mender: Mender, monkeypatch: pytest.MonkeyPatch, bytecode: str
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", bool(bytecode))
    folder = write(
        {
            "pkg/__init__.py": "",
            "pkg/left.py": "import pkg.right, other\n" + SITE,
            "pkg/right.py": "",
            "other.py": "",
        }
    )
    graphmend.install(["pkg.left"])
    load("pkg.left")
    written = {path.name for path in folder.rglob("*.pyc")}
    tag = sys.implementation.cache_tag
    plain = {f"{name}.{tag}.pyc" for name in ("__init__", "right", "other")}
    assert written == (set() if bytecode else plain)


def test_the_bytecode_of_the_original_stays_valid(write: Write, fake_mender: Mender) -> None:
    folder = write({"pkg.py": SITE})
    assert not is_mended(load("pkg"))
    del sys.modules["pkg"]
    with graphmend.install(["pkg"]):
        assert is_mended(load("pkg"))
    del sys.modules["pkg"]
    assert not is_mended(load("pkg"))
    ran = python("-c", "import pkg; print([n for n in vars(pkg) if 'outlined' in n])", cwd=folder)
    assert ran.stdout == "[]\n"


def test_python_O_and_B(write: Write) -> None:
    folder = write({"pkg.py": "def forward(x):\n    assert x, 'no'\n    print(x)\n"})
    code = (
        "import mender, graphmend.api; graphmend.api.fix_source = mender.Mender()\n"
        "import graphmend; graphmend.install(['pkg']); import pkg; pkg.forward(0)\n"
    )
    for flags in (["-O"], ["-O", "-B"], ["-O"]):
        ran = python(*flags, "-c", code, cwd=folder)
        assert (ran.returncode, ran.stdout) == (0, "0\n"), ran.stderr
    for flags in ([], ["-B"], []):
        ran = python(*flags, "-c", code, cwd=folder)
        assert "AssertionError: no" in ran.stderr
        assert 'pkg.py", line 2, in forward' in ran.stderr


def test_trace_names_each_module(
    write: Write,
    fake_mender: Mender,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GRAPHMEND_TRACE", "1")
    write({"pkg/__init__.py": "", "pkg/a.py": SITE, "pkg/tests/__init__.py": SITE})
    graphmend.install(["pkg"])
    load("pkg.a"), load("pkg.tests")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("graphmend: pkg: no break sites (analysed)")
    assert lines[1].startswith("graphmend: pkg.a: 1 mended, 0 left (analysed)")
    assert lines[2] == "graphmend: pkg.tests: skipped: test module"


def test_another_tool_may_patch_on_top(write: Write, fake_mender: Mender) -> None:
    write({"one.py": SITE, "two.py": SITE, "three.py": SITE})
    first = graphmend.install(["one", "two"])
    below = SourceFileLoader.get_code
    seen = []

    def on_top(loader: SourceFileLoader, name: str) -> object:
        seen.append(name)
        return below(loader, name)

    SourceFileLoader.get_code = on_top
    try:
        assert is_mended(load("one"))
        first.uninstall()
        assert not is_mended(load("two"))
        with graphmend.install(["three"]):
            assert is_mended(load("three"))
        assert SourceFileLoader.get_code is on_top
    finally:
        del SourceFileLoader.get_code
    assert seen == ["one", "two"]
