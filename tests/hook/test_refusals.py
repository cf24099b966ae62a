"""What the hook leaves alone."""

from __future__ import annotations

import importlib
import sys
import warnings
import zipfile
from importlib.machinery import SourceFileLoader

import pytest

import graphmend
from graphmend.hook import HookWarning
from tests.hook.conftest import Write, load, python
from tests.hook.mender import Mender

SITE = "def forward(x):\n    print(x)\n"


@pytest.mark.parametrize(
    "module", ["pkg.tests.helpers", "pkg.test_model", "pkg.model_test", "pkg.conftest"]
)
def test_test_modules_are_not_touched(write: Write, fake_mender: Mender, module: str) -> None:
    write(
        {"pkg/__init__.py": "", "pkg/tests/__init__.py": "", f"{module.replace('.', '/')}.py": SITE}
    )
    graphmend.install(["pkg"])
    load(module)
    assert graphmend.status().skipped[module] == "test module"
    assert module not in graphmend.status().mended


def test_modules_under_other_names_are_not_touched(write: Write, fake_mender: Mender) -> None:
    write({"pkg.py": SITE, "pkgs.py": SITE, "other.py": SITE})
    graphmend.install(["pkg"])
    load("pkgs"), load("other")
    assert fake_mender.calls == []
    assert graphmend.status().clean == ()


def test_modules_imported_before_are_reported_in_one_warning(
    write: Write, fake_mender: Mender
) -> None:
    write({"pkg/__init__.py": "", "pkg/a.py": SITE, "pkg/b.py": SITE})
    load("pkg.a"), load("pkg.b")
    with pytest.warns(HookWarning, match="install graphmend before the first import of") as caught:
        graphmend.install(["pkg"])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert set(graphmend.status().skipped) == {"pkg", "pkg.a", "pkg.b"}
    assert "had been imported before" in graphmend.status().skipped["pkg.a"]


def test_a_package_may_install_the_hook_for_itself(write: Write, fake_mender: Mender) -> None:
    write({"pkg/__init__.py": "import graphmend\ngraphmend.install(['pkg'])\n", "pkg/a.py": SITE})
    load("pkg.a")  # no warning: warnings are errors here
    assert set(graphmend.status().mended) == {"pkg.a"}
    assert "was being imported" in graphmend.status().skipped["pkg"]


def test_disabled_by_the_environment(
    write: Write, fake_mender: Mender, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"pkg.py": SITE})
    monkeypatch.setenv("GRAPHMEND_DISABLE", "1")
    with graphmend.install(["pkg"]):
        load("pkg")
    assert fake_mender.calls == []
    assert graphmend.status().disabled
    assert "disabled" in str(graphmend.status())


def test_zip_archives_and_compiled_modules_are_not_touched(
    write: Write, fake_mender: Mender
) -> None:
    folder = write({})
    with zipfile.ZipFile(folder / "archive.zip", "w") as archive:
        archive.writestr("zipped.py", SITE)
    sys.path.insert(0, str(folder / "archive.zip"))
    with graphmend.install(["zipped", "_bisect"]):
        load("zipped")
    sys.path.remove(str(folder / "archive.zip"))
    assert fake_mender.calls == []
    assert graphmend.status().mended == {}


def test_unknown_loaders_are_named_in_the_status(write: Write, fake_mender: Mender) -> None:
    class Other(importlib.abc.SourceLoader):
        def __init__(self, loader: SourceFileLoader) -> None:
            self._path = loader.path

        def get_filename(self, fullname: str) -> str:
            return self._path

        def get_data(self, path: str) -> bytes:
            return SITE.encode()

    folder = write({"pkg.py": SITE})
    loader = Other(SourceFileLoader("pkg", str(folder / "pkg.py")))
    spec = importlib.util.spec_from_file_location("pkg", folder / "pkg.py", loader=loader)
    graphmend.install(["pkg"])
    module = sys.modules["pkg"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert graphmend.status().skipped == {"pkg": "loaded by Other, past the hook"}


@pytest.mark.parametrize("given", ["pkg", b"pkg"])
def test_packages_must_be_a_list(given: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        graphmend.install(given)


@pytest.mark.parametrize("name", ["", "pkg.", "../pkg", "pkg*", "graphmend", "graphmend.runtime"])
def test_names_must_be_those_of_other_modules(name: str) -> None:
    with pytest.raises(ValueError):
        graphmend.install([name])


def test_the_modules_that_mending_needs_are_not_mended(write: Write) -> None:
    ran = python(
        "-c",
        "import graphmend; graphmend.install(['libcst', 'networkx', 'pkg'])\n"
        "import graphmend.api, mender; graphmend.api.fix_source = mender.Mender()\n"
        "import pkg, libcst, networkx\n"
        "s = graphmend.status(); print(sorted(s.failed), s.skipped['libcst'])",
        cwd=write({"pkg.py": SITE}),
    )
    assert ran.stdout == "[] used by graphmend itself\n", ran.stderr


def test_importing_graphmend_imports_little(tmp_path: object) -> None:
    code = (
        "import sys; before = set(sys.modules); import graphmend\n"
        "new = set(sys.modules) - before\n"
        "print(sorted(m for m in new if m.partition('.')[0] in "
        "('torch', 'libcst', 'networkx', 'click', 'platformdirs', 'asyncio')))\n"
        "print(sorted(m for m in new if m.startswith('graphmend')))"
    )
    assert python("-c", code, cwd=tmp_path).stdout.splitlines() == [
        "[]",
        "['graphmend', 'graphmend.version']",
    ]


def test_uninstall_leaves_the_import_system_as_it_was(write: Write, fake_mender: Mender) -> None:
    write({"pkg.py": SITE})
    assert "get_code" not in SourceFileLoader.__dict__
    with graphmend.install(["pkg"]):
        assert "get_code" in SourceFileLoader.__dict__
    assert "get_code" not in SourceFileLoader.__dict__
    load("pkg")
    assert fake_mender.calls == []


def test_a_file_that_is_no_python_raises_as_without_graphmend(write: Write) -> None:
    write({"pkg.py": "def f(:\n"})
    graphmend.install(["pkg"])
    with warnings.catch_warnings(), pytest.raises(SyntaxError) as caught:
        load("pkg")
    assert caught.value.lineno == 1
    assert caught.value.__context__ is None
