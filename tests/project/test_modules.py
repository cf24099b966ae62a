"""Modules on demand, and what names mean across them."""

import pytest

from graphmend.ir.module import ClassInfo, Function, Module
from graphmend.ir.project import Project, Value
from graphmend.ir.source import Source


def test_nothing_is_run(write):
    code = write(
        {
            "a.py": "from b import f\n",
            "b.py": "raise SystemExit(1)\ndef f(): pass\n",
        }
    )
    assert isinstance(code.project.definition("b.f"), Function)


@pytest.mark.parametrize("text", ["def f(:\n", "x = '\0'\n"])
def test_a_module_that_cannot_be_parsed_is_no_module(write, text):
    code = write({"a.py": "import b\n", "b.py": text})
    assert code.project.module("b") is None
    assert code.project.definition("b.f") is None


def test_torch_and_the_standard_library_are_never_parsed(write):
    code = write({"a.py": "import torch\nimport json\n"})
    assert code.project.module("torch", third_party=True) is None
    assert code.project.module("json", third_party=True) is None
    assert code.project.definition("torch.nn.Linear", third_party=True) is None


def test_a_package_that_star_imports_in_circles_ends(write):
    files = {"pkg/__init__.py": "".join(f"from .m{i} import *\n" for i in range(10))}
    for i in range(10):
        files[f"pkg/m{i}.py"] = "from . import *\nfrom pkg import other\n"
    code = write(files)
    assert code.project.definition("pkg.missing") is None
    assert code.project.definition("pkg.m3.missing.more") is None


def test_other_packages_are_read_only_when_asked_for(write):
    code = write({"a.py": "import pytest\n"})
    assert code.project.definition("pytest.raises") is None
    assert code.project.module("pytest") is None
    assert code.project.module("pytest", third_party=True) is not None


def test_root_is_the_nearest_marker(write):
    code = write({"sub/a.py": "", "sub/deep/b.py": ""})
    assert code.project.root == code.root
    assert Project.of(code.root / "sub" / "deep" / "b.py").root == code.root


def test_root_of_an_installed_package_is_the_package(tmp_path):
    package = tmp_path / "site-packages" / "lib"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner" / "__init__.py").write_text("")
    (package / "inner" / "m.py").write_text("from lib import x\n")
    project = Project.of(package / "inner" / "m.py")
    assert project.root == package
    assert project.name_of(package / "inner" / "m.py") == "lib.inner.m"
    assert project.files == sorted(package.rglob("*.py"))


def test_a_loose_script_does_not_own_its_folders(write):
    code = write({"a.py": "", "other/b.py": "", "pkg/__init__.py": "", "pkg/c.py": ""}, False)
    names = {p.relative_to(code.root).as_posix() for p in code.project.files}
    assert names == {"a.py", "pkg/__init__.py", "pkg/c.py"}


def test_hidden_folders_environments_and_outputs_are_skipped(write):
    code = write(
        {
            "a.py": "",
            ".hidden/b.py": "",
            "node_modules/c.py": "",
            "build/d.py": "",
            "myenv/pyvenv.cfg": "",
            "myenv/e.py": "",
            "__pycache__/f.py": "",
        }
    )
    assert code.project.files == [code.root / "a.py"]


def test_reexports_aliases_stars_and_relative_imports(write):
    code = write(
        {
            "pkg/__init__.py": "from .api import *\nfrom .sub import g as h\n",
            "pkg/api.py": "from .impl import f\nalias = f\nLIMIT = 3\n",
            "pkg/impl.py": "def f(): pass\nclass C: pass\n",
            "pkg/sub/__init__.py": "from ..impl import f as g, C\n",
            "use.py": "from pkg import f\n",
        }
    )
    f = code.function("pkg/impl.py", "f")
    for name in ("pkg.f", "pkg.h", "pkg.api.alias", "pkg.sub.g", "use.f", "pkg.impl.f"):
        assert code.project.definition(name) is f, name
    assert isinstance(code.project.definition("pkg.sub.C"), ClassInfo)
    limit = code.project.definition("pkg.LIMIT")
    assert isinstance(limit, Value) and limit.values[0].value == 3


def test_imports_for_type_checkers_say_what_a_lazy_package_holds(write):
    code = write(
        {
            "pkg/__init__.py": """
                from typing import TYPE_CHECKING
                if TYPE_CHECKING:
                    from .impl import f
                else:
                    import sys
                    sys.modules[__name__] = object()
                """,
            "pkg/impl.py": "def f(): pass\n",
        }
    )
    assert code.project.definition("pkg.f") is code.function("pkg/impl.py", "f")


def test_a_function_with_the_name_of_its_module(write):
    code = write({"pkg/__init__.py": "from .run import run\n", "pkg/run.py": "def run(): pass\n"})
    assert code.project.definition("pkg.run.run") is code.function("pkg/run.py", "run")


def test_modules_of_one_name_in_two_folders(write):
    code = write(
        {
            "one/a.py": "from helper import f\n",
            "one/helper.py": "def f(): pass\n",
            "two/a.py": "from helper import f\n",
            "two/helper.py": "def f(): pass\n",
        }
    )
    for folder in ("one", "two"):
        found = code.project.definition("helper.f", code.module(f"{folder}/a.py"))
        assert found is code.function(f"{folder}/helper.py", "f")


def test_files_read_and_files_missed_are_noted(write):
    code = write({"a.py": "import b\n", "b.py": "import c\n", "unused.py": ""})
    code.project.module("b")
    code.project.module("c")
    assert code.project.consulted == {code.root / "b.py"}
    assert {code.root / "c.py", code.root / "c" / "__init__.py"} <= code.project.missing


def test_an_adopted_module_stands_for_its_file(write):
    code = write({"a.py": "from b import f\n", "b.py": "def f(): pass\n"})
    path = code.root / "b.py"
    code.project.adopt(Module.parse(Source(path, "def f(): g()\ndef g(): pass\n"), "b"))
    assert code.callee("b.py", "g()") == "g"
    assert path in code.project.mentioning("g")


def test_the_fingerprint_follows_the_files(write):
    code = write({"a.py": ""})
    before = code.project.fingerprint()
    (code.root / "a.py").write_text("x = 1\n")
    assert Project.of(code.root / "a.py").fingerprint() != before


MODULES = """
    import torch
    from torch import nn
    import torch.nn as tnn
    class Plain: pass
    class A(nn.Module): pass
    class B(Plain, A): pass
    class L(tnn.Linear): pass
    class P(nn.Parameter): pass
    class F(torch.autograd.Function): pass
    class Loop(Loop): pass
    """


def test_subclasses_of_nn_module(write):
    code = write(
        {"a.py": MODULES, "b.py": "import a\nclass D(a.B): pass\nclass E(a.Nowhere): pass\n"}
    )
    known = {
        info.qualname
        for name in ("a.py", "b.py")
        for info in code.module(name).classes.values()
        if code.project.class_is_module(info)
    }
    assert known == {"A", "B", "L", "D"}


def test_method_resolution_order_is_pythons(write):
    code = write(
        {
            "a.py": """
                class O:
                    def m(self): pass
                class A(O): pass
                class B(O):
                    def m(self): pass
                class C(A, B): pass
                """
        }
    )
    info = code.module("a.py").classes["C"]
    assert [c.qualname for c in code.project.hierarchy.ancestors(info)] == ["C", "A", "B", "O"]
    assert code.project.member(info, "m").qualname == "B.m"
