"""Reaching definitions, definite binding, uses and liveness."""

from __future__ import annotations

import ast

import pytest

from graphmend.ir.cfg import Sentinel
from graphmend.ir.dataflow import DefinitionKind
from graphmend.ir.symbols import Function
from tests.ir.samples import function


def _mark(f: Function, name: str = "HERE") -> ast.stmt:
    """The statement that mentions `name`."""
    found = [n for n in ast.walk(f.node) if isinstance(n, ast.Name) and n.id == name]
    return f.module.statement_of(found[0])


def _reaching(text: str, name: str = "x") -> list[str]:
    f = function(text)
    found = f.flow.definitions_reaching(_mark(f), name)
    return sorted(f"{d.kind} {d.value and ast.unparse(d.value)}" for d in found)


REACHING = {
    "def f(x): HERE": ["parameter None"],
    "def f():\n  x = 1\n  x = 2\n  HERE": ["assign 2"],
    "def f():\n  x = 1\n  if a: x = 2\n  HERE": ["assign 1", "assign 2"],
    "def f():\n  x, (y, z) = 1, (2, 3)\n  HERE": ["unpack 1"],
    "def f():\n  x, y = g\n  HERE": ["unpack None"],
    "def f():\n  x, *y = 1, 2, 3\n  HERE": ["unpack None"],
    "def f():\n  x = y = 5\n  HERE": ["assign 5"],
    "def f():\n  x: int\n  HERE": [],
    "def f():\n  x: int = 4\n  HERE": ["assign 4"],
    "def f(x):\n  x += 1\n  HERE": ["augmented None"],
    "def f(x):\n  for x in a: pass\n  HERE": ["for None", "parameter None"],
    "def f(x):\n  for x in a: HERE": ["for None"],
    "def f():\n  with a as (x, y): HERE": ["with None"],
    "def f():\n  try: a\n  except E as x: HERE": ["except None"],
    "def f(x):\n  try: a\n  except E as x: b\n  HERE": ["parameter None"],
    "def f():\n  import x.y\n  HERE": ["import None"],
    "def f():\n  def x(): pass\n  HERE": ["function None"],
    "def f():\n  class x: pass\n  HERE": ["class None"],
    "def f(x):\n  if (x := a): pass\n  HERE": ["walrus a"],
    "def f(x):\n  if b and (x := a): pass\n  HERE": ["parameter None", "walrus a"],
    "def f(x):\n  [x := a for b in c]\n  HERE": ["parameter None", "walrus None"],
    "def f(x):\n  [x for x in c]\n  HERE": ["parameter None"],
    "def f(x):\n  assert (x := a)\n  HERE": ["parameter None", "walrus a"],
    "def f(x):\n  del x\n  HERE": [],
    "def f(x):\n  match a:\n    case {'k': x}: HERE": ["match None"],
    "def f(x):\n  match a:\n    case [x] if x > HERE: pass": ["match None", "parameter None"],
    "def f(x):\n  try: x = g()\n  except: HERE": ["assign g()", "parameter None"],
    "def f(x):\n  try: x = g()\n  finally: HERE": ["assign g()", "parameter None"],
    "def f(x):\n  while a:\n    HERE\n    x = 1": ["assign 1", "parameter None"],
    "def f():\n  global x\n  x = 1\n  HERE": ["assign 1", "external None"],
    "def f(x):\n  x = 1\n  def g():\n    nonlocal x\n    x = 2\n  HERE": [
        "assign 1",
        "external None",
    ],
    "def f(): HERE": ["external None"],
    "def f(x):\n  a = lambda: HERE": ["parameter None"],
}


@pytest.mark.parametrize(("text", "found"), REACHING.items(), ids=REACHING.keys())
def test_definitions_reaching(text: str, found: list[str]) -> None:
    assert _reaching(text) == found


BOUND = {
    "def f(x): HERE": True,
    "def f():\n  if a: x = 1\n  HERE": False,
    "def f():\n  if a: x = 1\n  else: x = 2\n  HERE": True,
    "def f():\n  if a: x = 1\n  else: raise b\n  HERE": True,
    "def f():\n  for x in a: pass\n  HERE": False,
    "def f():\n  while True:\n    x = 1\n    if a: break\n  HERE": True,
    "def f():\n  with a(): x = 1\n  HERE": False,
    "import torch\ndef f():\n  with torch.no_grad(): x = 1\n  HERE": True,
    "def f():\n  try: x = g()\n  except E: pass\n  HERE": False,
    "def f():\n  try: x = g()\n  except E: raise\n  HERE": True,
    "def f(x):\n  if a: del x\n  HERE": False,
    "def f():\n  x: int\n  HERE": False,
    "def f():\n  global x\n  x = 1\n  HERE": False,
    "def f(x):\n  def g():\n    nonlocal x\n    del x\n  HERE": False,
    "import x\ndef f(): HERE": False,
    "def f():\n  try: a\n  except E as x: HERE": True,
    "def f(x):\n  try: a\n  except E as x: b\n  HERE": False,
}


@pytest.mark.parametrize(("text", "bound"), BOUND.items(), ids=BOUND.keys())
def test_definitely_bound(text: str, bound: bool) -> None:
    f = function(text)
    assert f.flow.definitely_bound(_mark(f), "x") is bound


def test_names_of_enclosing_functions_are_bound_if_they_are_parameters() -> None:
    f = function("def f(a, b):\n  c = 1\n  del b\n  def g(): HERE\n", "f.<locals>.g")
    bound = [f.flow.definitely_bound(_mark(f), name) for name in "abc"]
    assert bound == [True, False, False]


LIVE = {
    "def f(x):\n  HERE\n  return x": {"x"},
    "def f(x):\n  HERE\n  x = 1\n  return x": set(),
    "def f(x):\n  HERE\n  if a: x = 1\n  return x": {"x"},
    "def f(x):\n  HERE\n  x += 1": {"x"},
    "def f(x):\n  HERE\n  del x": {"x"},
    "def f(x, y):\n  if HERE:\n    y = x\n  return y": {"y"},
    "def f(x, y):\n  for i in a:\n    print(x)\n    HERE\n    x = y": {"y"},
    "def f(x, y):\n  for i in a:\n    print(x)\n    HERE": {"x"},
    "def f(x):\n  g = lambda: x\n  HERE\n  g()": {"x", "g"},
    "def f(x):\n  g = (x for _ in a)\n  HERE": {"x"},
    "def f(x):\n  HERE\n  [x for y in x]": {"x"},
    "def f(x):\n  HERE\n  [x for x in y]": set(),
    "def f(x):\n  HERE\n  return locals()": {"x"},
    "def f():\n  global x\n  HERE\n  x = 1": {"x"},
    "def f(x):\n  try: HERE\n  except E: return x\n": {"x"},
    "def f(x):\n  try: HERE\n  finally: print(x)\n": {"x"},
    "def f(x):\n  HERE\n  class C: y = x": {"x"},
    "def f(x):\n  HERE\n  def g(a=x): pass": {"x"},
    "def f(x):\n  HERE\n  try: x = g()\n  except E: pass\n  return x": {"x"},
    "def f(x):\n  HERE\n  try: a\n  except E as x: b\n  return c": set(),
}


@pytest.mark.parametrize(("text", "live"), LIVE.items(), ids=LIVE.keys())
def test_live_after(text: str, live: set[str]) -> None:
    f = function(text)
    assert f.flow.live_after(_mark(f)) == live


def test_uses() -> None:
    f = function(
        """
        def f(x):
            a = x
            if x: x = 2
            b = x
            x = 3
            return lambda: x
        """
    )
    first, second, third = (
        d
        for number in (0, 2, 3)
        for d in f.flow._definitions
        if d.name == "x" and (d.value.value if isinstance(d.value, ast.Constant) else 0) == number
    )
    lines = {d: sorted(n.lineno for n in f.flow.uses(d)) for d in (first, second, third)}
    assert lines == {first: [3, 4, 5, 7], second: [5, 7], third: [7]}


def test_private_names_are_found_as_they_are_spelled() -> None:
    f = function("class C:\n  def f(self, __x):\n    HERE\n    return __x\n", "C.f")
    (definition,) = f.flow.definitions_reaching(_mark(f), "__x")
    assert definition.kind is DefinitionKind.PARAMETER and definition.stmt is Sentinel.ENTRY
    assert f.flow.live_after(_mark(f)) == {"__x"} and f.locals() == {"self", "__x"}


def test_a_binding_seen_by_its_own_statement() -> None:
    f = function("def f(i, a):\n  i, a[i] = HERE, 2\n")
    kinds = {d.kind for d in f.flow.definitions_reaching(_mark(f), "i")}
    assert kinds == {DefinitionKind.PARAMETER, DefinitionKind.UNPACK}
