"""The hook beside other tools that rewrite modules as they load."""

from __future__ import annotations

import ast
import importlib.util
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from unittest import mock

import pytest

import graphmend
from graphmend.hook import HookWarning
from tests.hook.conftest import Write, load, python
from tests.hook.mender import Mender

SITE = "def forward(x):\n    print(x)\n    return x\n"


class Doubling(ast.NodeTransformer):
    """What another tool does: every `return x` returns `x * 2`."""

    def visit_Return(self, node: ast.Return) -> ast.Return:
        node.value = ast.BinOp(node.value, ast.Mult(), ast.Constant(2))
        return ast.fix_missing_locations(node)


class TreeLoader(SourceFileLoader):
    """A loader that rewrites trees, under its own bytecode tag, patched around exec_module."""

    def exec_module(self, module: object) -> None:
        with mock.patch("importlib._bootstrap_external.cache_from_source", _tagged):
            super().exec_module(module)

    def source_to_code(self, data: object, path: str, *, _optimize: int = -1) -> object:
        tree = data if isinstance(data, ast.Module) else ast.parse(data)
        return compile(Doubling().visit(tree), path, "exec", dont_inherit=True, optimize=_optimize)


class GetCodeLoader(SourceFileLoader):
    """A loader that patches the bytecode tag within get_code only, and compiles with flags."""

    def get_code(self, fullname: str) -> object:
        with mock.patch("importlib._bootstrap_external.cache_from_source", _tagged):
            return super().get_code(fullname)

    def source_to_code(self, data: object, path: str, *, _optimize: int = -1) -> object:
        flags = ast.PyCF_ONLY_AST
        tree = compile(data, path, "exec", flags, dont_inherit=True, optimize=_optimize)
        return compile(Doubling().visit(tree), path, "exec", dont_inherit=True, optimize=_optimize)


class BytesLoader(SourceFileLoader):
    """A loader that takes bytes only."""

    def source_to_code(self, data: bytes, path: str, *, _optimize: int = -1) -> object:
        tree = ast.parse(data.decode())
        return compile(Doubling().visit(tree), path, "exec", dont_inherit=True, optimize=_optimize)


def _tagged(path: str, debug_override: object = None, *, optimization: object = None) -> str:
    return importlib.util.cache_from_source(path, optimization="other1")


class Finder:
    """A finder in front of all others that hands out `loader` for `names`."""

    def __init__(self, loader: type[SourceFileLoader], *names: str) -> None:
        self.loader, self.names = loader, names

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        spec = PathFinder.find_spec(name, path, target) if name in self.names else None
        if spec is not None:
            spec.loader = self.loader(spec.loader.name, spec.loader.path)
        return spec


@pytest.fixture
def other_tool(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Another tool's finder for `pkg`, installed before or after graphmend makes no difference."""
    monkeypatch.setattr(sys, "meta_path", [Finder(request.param, "pkg"), *sys.meta_path])


@pytest.mark.parametrize("other_tool", [BytesLoader], indirect=True)
def test_a_loader_that_takes_no_tree_gets_the_original(
    write: Write, fake_mender: Mender, other_tool: None
) -> None:
    write({"pkg.py": SITE})
    graphmend.install(["pkg"])
    with pytest.warns(HookWarning, match="BytesLoader does not take syntax trees"):
        assert load("pkg").forward(2) == 4
    assert list(graphmend.status().failed) == ["pkg"]


@pytest.mark.parametrize("other_tool", [TreeLoader, GetCodeLoader], indirect=True)
def test_both_rewrites_apply(write: Write, fake_mender: Mender, other_tool: None) -> None:
    folder = write({"pkg.py": "import neighbour\n" + SITE, "neighbour.py": "x = 1\n"})
    graphmend.install(["pkg"])
    for _ in range(2):  # the second time from the store
        module = load("pkg")
        assert module.forward(2) == 4
        assert any(name.startswith("_outlined") for name in vars(module))
        del sys.modules["pkg"]
    assert "pkg" not in {p.name.partition(".")[0] for p in folder.rglob("*.pyc")}
    graphmend.uninstall()
    module = load("pkg")
    assert module.forward(2) == 4
    assert not any(name.startswith("_outlined") for name in vars(module))


CONFTEST = """\
import mender, graphmend, graphmend.api
graphmend.api.fix_source = mender.Mender()
graphmend.install(["pkg", "test_model"])
"""
TEST = """\
import pytest
import graphmend
from pkg.model import forward
from pkg.tests import test_inner

def test_rewritten():
    values = [1, 2]
    print("here")
    with pytest.raises(AssertionError, match="assert .1, 2. == .3."):
        assert values == [3]

def test_status():
    assert forward(1) == 1
    status = graphmend.status()
    assert set(status.mended) == {"pkg.model"}
    assert status.skipped["pkg.tests.test_inner"] == "test module"
    assert status.failed == {}
"""


@pytest.mark.parametrize("flags", [[], ["-B"]])
def test_pytest_rewrites_its_tests_and_graphmend_the_package(
    write: Write, flags: list[str]
) -> None:
    folder = write(
        {
            "conftest.py": CONFTEST,
            "test_model.py": TEST,
            "pkg/__init__.py": "",
            "pkg/model.py": SITE,
            "pkg/tests/__init__.py": "",
            "pkg/tests/test_inner.py": "def test_inner():\n    print(1)\n",
        }
    )
    for _ in range(2):
        ran = python(
            *flags, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", cwd=folder
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert "3 passed" in ran.stdout
    tag = sys.implementation.cache_tag
    written = {p.name for p in folder.rglob("*.pyc")}
    assert f"model.{tag}.pyc" not in written
    assert bool(written) != bool(flags)


def test_modules_that_pytest_rewrites_are_reported(write: Write) -> None:
    """A package registered for assertion rewriting is pytest's; the status says so."""
    folder = write(
        {
            "conftest.py": "import pytest\npytest.register_assert_rewrite('pkg')\n" + CONFTEST,
            "test_it.py": "import graphmend, pkg\n\ndef test_it():\n"
            "    assert 'AssertionRewritingHook' in graphmend.status().skipped['pkg']\n",
            "pkg.py": SITE,
        }
    )
    ran = python("-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", cwd=folder)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_lazy_modules_are_neither_woken_nor_late(write: Write, fake_mender: Mender) -> None:
    path = write({"lazy.py": SITE}) / "lazy.py"
    loader = importlib.util.LazyLoader(SourceFileLoader("lazy", str(path)))
    spec = importlib.util.spec_from_file_location("lazy", path, loader=loader)
    module = sys.modules["lazy"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    graphmend.install(["lazy"])
    assert graphmend.status().skipped == {}
    assert fake_mender.calls == []
    assert module.forward(1) == 1
    assert set(graphmend.status().mended) == {"lazy"}
