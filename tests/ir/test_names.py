"""Qualified names: what is not certain is not answered."""

from __future__ import annotations

import ast

import pytest

from graphmend.ir.module import Module
from tests.ir.samples import module


def _last(parsed: Module) -> str | None:
    """The qualified name of the function of the last call `...(0)` in the text."""
    calls = [
        node
        for node in ast.walk(parsed.tree)
        if isinstance(node, ast.Call) and [getattr(a, "value", 1) for a in node.args] == [0]
    ]
    assert len(calls) == 1
    return parsed.qualified(calls[0].func, parsed.function_of(calls[0]))


UNKNOWN = {
    "parameter": "import torch\ndef f(torch): torch.where(0)",
    "local": "import torch\ndef f():\n  torch.where(0)\n  torch = 1",
    "loop": "import torch\nfor torch in x: pass\ntorch.where(0)",
    "comprehension": "import torch\n[torch.where(0) for torch in y]",
    "lambda": "import torch\nlambda torch: torch.where(0)",
    "enclosing": "import torch\ndef f(torch):\n  def g(): torch.where(0)",
    "except": "import torch\ntry: pass\nexcept E as torch: torch.where(0)",
    "rebound": "import torch\ntorch = fake\ntorch.where(0)",
    "global": "import torch\ndef f():\n  global torch\n  torch = 1\ndef g(): torch.where(0)",
    "global only": "def f():\n  global x\n  x = 1\ndef g(): x.y(0)",
    "deleted": "import torch\ndel torch\ndef f(): torch.where(0)",
    "no binding": "where(0)",
    "star": "from torch import *\nwhere(0)",
    "shadowed builtin": "def print(x): pass\ndef f(print): print(0)",
    "self": "class C:\n  def f(self): self.x(0)",
    "call": "import torch\ntorch.f().where(0)",
    "subscript": "import torch\ntorch.x[1].y(0)",
    "two imports": "if a:\n  from x import f\nelse:\n  from y import f\nf(0)",
    "two defs": "if a:\n  def f(): pass\nelse:\n  def f(): pass\nf(0)",
    "def then call": "def f(): pass\nf = wrap(f)\nf(0)",
    "other handler": "try:\n  from x import f\nexcept ValueError:\n  f = None\nf(0)",
    "also later": "try:\n  import f\nexcept ImportError:\n  f = None\nf = g\nf.h(0)",
    "beyond the top": "from ....x import f\nf(0)",
    "alias cycle": "a = b\nb = a\ndef f():\n  global b\n  b = 3\n  b.c(0)",
    "private": "def __f(): pass\nclass C:\n  def g(self): __f(0)",
    "local alias": "import torch\ndef f():\n  w = torch.where\n  w(0)",
    "match": "import torch\nmatch x:\n  case torch: torch.where(0)",
    "walrus": "import torch\n(torch := 1)\ntorch.where(0)",
    "nonlocal": "def f():\n  import t\n  def g():\n    nonlocal t\n    t = 1\n  t.x(0)",
    "class cell": "class C:\n  def f(self): __class__.x(0)",
    "module dunder": "__name__.join(0)",
}


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_unresolved(text: str) -> None:
    assert _last(module(text)) is None


KNOWN = {
    "import a.b.c\na.b.c.d(0)": "a.b.c.d",
    "import a.b as c\nc.d(0)": "a.b.d",
    "import a.b, a.c\ndef f(): a.b.d(0)": "a.b.d",
    "from a import b as c\nc.d(0)": "a.b.d",
    "import a.functional as F\nclass C:\n  def f(self): F.relu(0)": "a.functional.relu",
    "import a.functional as F\nrelu = F.relu\ndef f(): relu(0)": "a.functional.relu",
    "import warnings\nw = warnings.warn\nv = w\nv(0)": "warnings.warn",
    "print(0)": "builtins.print",
    "from torch import *\nprint(0)": "builtins.print",
    "def f():\n  import torch\n  torch.where(0)": "torch.where",
    "def f():\n  import torch\n  return lambda: [torch.where(0) for x in y]": "torch.where",
    "try:\n  import x.y as z\nexcept ImportError:\n  z = None\nz.f(0)": "x.y.f",
    "try:\n  from x import f\nexcept:\n  from y import f\nf(0)": "x.f",
    "if TYPE_CHECKING:\n  from x import f\nf(0)": "x.f",
    "if typing.TYPE_CHECKING:\n  from x import f\nelse:\n  from y import f\nf(0)": "y.f",
    "def f():\n  global t\n  import torch as t\ndef g(): t.where(0)": "torch.where",
    "import logging\nlog = logging.getLogger(a)\nlog.info(0)": "pkg.sub.mod.log.info",
    "def h(): pass\ndef f(): h(0)": "pkg.sub.mod.h",
    "class C:\n  def m(self): pass\ndef f(): C.m(0)": "pkg.sub.mod.C.m",
    "class C:\n  def m(self): pass\n  m(0)": "pkg.sub.mod.C.m",
    "def f():\n  def g(): pass\n  g(0)": "pkg.sub.mod.f.<locals>.g",
    "class C:\n  print = 1\n  def f(self): print(0)": "builtins.print",
    "@overload\ndef f(x: int): ...\ndef f(x): ...\nf(0)": "pkg.sub.mod.f",
    "def f(): pass\ndef f(): pass\nf(0)": "pkg.sub.mod.f",
    "x: int\nimport x\nx.f(0)": "x.f",
    "def f(x, y=print(0)): print = 1": "builtins.print",
    "import a\n@a.b(0)\ndef f(a): pass": "a.b",
    "import a\n[a for a in a.b(0)]": "a.b",
    "import a\nclass C(a.b(0)):\n  a = 1": "a.b",
    "def __f(): pass\nclass C: pass\n__f(0)": "pkg.sub.mod.__f",
}


@pytest.mark.parametrize(("text", "name"), KNOWN.items(), ids=KNOWN.keys())
def test_resolved(text: str, name: str) -> None:
    assert _last(module(text, "pkg.sub.mod", "pkg/sub/mod.py")) == name


@pytest.mark.parametrize(
    ("text", "in_module", "in_package"),
    [
        ("from . import x\nx(0)", "pkg.x", "pkg.sub.x"),
        ("from .x import y\ny(0)", "pkg.x.y", "pkg.sub.x.y"),
        ("from .. import x\nx(0)", None, "pkg.x"),
        ("from ..x import y as z\nz.w(0)", None, "pkg.x.y.w"),
    ],
)
def test_relative_imports(text: str, in_module: str | None, in_package: str) -> None:
    assert _last(module(text, "pkg.sub", "pkg/sub.py")) == in_module
    assert _last(module(text, "pkg.sub", "pkg/sub/__init__.py")) == in_package


def test_expressions_from_elsewhere_are_read_in_the_given_function() -> None:
    parsed = module("import torch\ndef f(torch): pass\ndef g(): pass\n")
    expr = ast.parse("torch.where", mode="eval").body
    assert parsed.qualified(expr, None) == "torch.where"
    assert parsed.qualified(expr, parsed.functions["g"]) == "torch.where"
    assert parsed.qualified(expr, parsed.functions["f"]) is None
