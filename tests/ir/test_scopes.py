"""Scopes agree with the interpreter's own symbol tables."""

from __future__ import annotations

import ast
import symtable
import sys
import textwrap
import warnings
from collections import Counter
from pathlib import Path

import pytest

from graphmend.ir.module import Module
from graphmend.ir.scopes import Scope, ScopeKind
from graphmend.ir.source import SourceError, read_source
from tests.ir.samples import module, standard_library

_IMPLICIT = {".0", "__class__", "__classdict__", "__type_params__", ".type_params"}
_Row = tuple[str, frozenset[str], frozenset[str], frozenset[str]]


def _expected(text: str) -> Counter[_Row]:
    """(kind, locals, free, globals) of every table."""
    rows: Counter[_Row] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stack = [symtable.symtable(text, "file", "exec")]
    while stack:
        table = stack.pop()
        stack.extend(table.get_children())
        if str(table.get_type()) in ("module", "class", "function"):
            named = [s for s in table.get_symbols() if _is_mentioned(s)]
            own = frozenset(s.get_name() for s in named if s.is_local())
            free = frozenset(s.get_name() for s in named if s.is_free())
            rows[(str(table.get_type()), own, free, _names(named) - own - free)] += 1
    return rows


def _is_mentioned(symbol: symtable.Symbol) -> bool:
    """Not implicit, and more than a `global` declaration that nothing uses."""
    used = symbol.is_referenced() or symbol.is_local() or symbol.is_free() or symbol.is_assigned()
    return symbol.get_name() not in _IMPLICIT and (used or symbol.is_imported())


def _names(symbols: list[symtable.Symbol]) -> frozenset[str]:
    return frozenset(s.get_name() for s in symbols)


def _found(parsed: Module) -> Counter[_Row]:
    rows: Counter[_Row] = Counter()
    for scope in parsed.scopes.module.walk():
        if scope.kind is not ScopeKind.TYPE_PARAMETERS and not _is_inlined(scope):
            kind = "function" if scope.kind is ScopeKind.COMPREHENSION else str(scope.kind)
            own, passed, outside = _row(scope)
            rows[(kind, own, passed - own, outside - own - passed)] += 1
    return rows


def _is_inlined(scope: Scope) -> bool:
    """Since Python 3.12 comprehensions have no table of their own (PEP 709)."""
    inlined = scope.kind is ScopeKind.COMPREHENSION and not isinstance(scope.node, ast.GeneratorExp)
    return inlined and sys.version_info >= (3, 12)


def _row(scope: Scope) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Local, free and outer names of a scope, inlined comprehensions included."""
    own, outside = _classified(scope)
    passed = frozenset(name for name, owner in _free(scope) if owner is not scope)
    for child in filter(_is_inlined, scope.children):
        inner = _row(child)
        own, passed, outside = own | inner[0], passed | inner[1], outside | inner[2]
    return own, passed, outside


def _classified(scope: Scope) -> tuple[frozenset[str], frozenset[str]]:
    """The names local to a scope, and those that it takes from elsewhere."""
    bound = {n for n, found in scope.bindings.items() if not all(b.remote for b in found)}
    names = (scope.names.keys() | bound) - _IMPLICIT
    own = {n for n in names if scope.owner(n) is scope}
    if scope.kind is ScopeKind.MODULE:
        own &= bound
    return frozenset(own), frozenset(names - own)


def _free(scope: Scope) -> set[tuple[str, Scope]]:
    """Variables of enclosing functions that a scope or one inside it mentions."""
    found = set()
    for name in (scope.names.keys() | scope.nonlocals) - _IMPLICIT:
        owner = scope.owner(name)
        if owner is not None and owner is not scope and owner.kind is not ScopeKind.MODULE:
            found.add((name, owner))
    inside = (pair for child in scope.children for pair in _free(child))
    return found | {(name, owner) for name, owner in inside if owner is not scope}


def _check(path: Path) -> None:
    try:
        source = read_source(path)
    except SourceError:
        return  # files with encodings that are refused
    if "import annotations" in source.text:
        return  # its annotations are no code to the interpreter, but names to us
    parsed = Module.parse(source, path.stem)
    assert _found(parsed) == _expected(source.text), path


@pytest.mark.parametrize("start", range(4))
def test_scopes_are_those_of_the_interpreter(start: int) -> None:
    for path in standard_library(every=12)[start::4]:
        _check(path)


@pytest.mark.slow
def test_scopes_are_those_of_the_interpreter_everywhere() -> None:
    for path in standard_library():
        _check(path)


CASES = [
    "f = lambda x: x; g = [lambda: f for f in range(3)]; h = lambda x=lambda y: y: x",
    """
    class C:
        __x = 1
        def __f(self): return self.__y, __z, __x
        import __q
    """,
    "class _:\n    def f(self): return __x\n",
    """
    def f(x):
        global y
        def g():
            nonlocal x
            x = y
            y2 = [z for z in x]
    """,
    """
    def f():
        global y
        y = 1
        def g(): return y
    """,
    "def f(a, /, b, *c, d=1, **e): return (z := a), [w := i for i in b]\n",
    """
    class C:
        x = 1
        y = [x for _ in range(x)]
        def f(self): return x
    """,
    """
    def f():
        try: pass
        except E as e: e
        with a as (b, [c, *d]): pass
        for i.x in y: pass
    """,
    """
    match v:
        case {'a': a, **rest}: pass
        case [b, *c] | (b as c): pass
        case C(x=y): pass
    """,
    """
    def f():
        x: int
        (y): int
        z.w: int = 1
        def g(): return x
    """,
    """
    def f():
        import a.b, c.d as e
        from . import g as h, i
        del e
    """,
    """
    async def f():
        async for x in y: pass
        async with z as w: return [q async for q in x]
    """,
]
if sys.version_info >= (3, 12):
    CASES += [
        "def f[T: int, *Ts](x: T, y=T) -> T:\n    T\n    def g(): return T, Ts\n",
        "class C[T](B[T]):\n    a: T\n    def f(self, x: T): return T\n    type X[U] = (T, U)\n",
        "type A[T] = list[T]\nA, T\n",
    ]


@pytest.mark.parametrize("text", CASES)
def test_awkward_scopes(text: str) -> None:
    assert _found(module(text)) == _expected(textwrap.dedent(text))
