"""Every binding of a name inside one function, without regard to order.

Coarser than reaching definitions and much cheaper: enough to say which functions and classes a
local variable may stand for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from graphmend.ir.scopes import children


class How(Enum):
    """What the bound value is, given the expression of the binding."""

    VALUE = auto()
    """The value of the expression."""
    ELEMENT = auto()
    """An element of the value of the expression (loops, comprehensions)."""
    MEMBER = auto()
    """A container that the value of the expression was put into (`append`)."""
    IMPORT = auto()
    """The module or object that the import statement names."""
    UNKNOWN = auto()
    """Anything."""


@dataclass(frozen=True)
class Binding:
    """One place where a name is bound."""

    how: How
    value: ast.expr | None = None
    origin: tuple[ast.Import | ast.ImportFrom, ast.alias] | None = None


PUTS = frozenset({"append", "add", "insert", "appendleft"})
"""Methods whose last argument becomes an element of the container."""

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own_nodes(body: list[ast.stmt] | ast.expr) -> Iterator[ast.AST]:
    """All nodes of a function body but those of functions and classes defined in it.

    The definition statements themselves, their decorators and their defaults are included;
    contexts and operators are not.
    """
    stack: list[ast.AST] = list(reversed(body)) if isinstance(body, list) else [body]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, _SCOPES):
            stack.extend(getattr(node, "decorator_list", ()))
            if isinstance(node, ast.ClassDef):
                stack.extend(node.bases)
            else:
                defaults = [*node.args.defaults, *node.args.kw_defaults]
                stack.extend(d for d in defaults if d is not None)
        else:
            stack.extend(children(node))


def bindings_of(nodes: Iterable[ast.AST]) -> dict[str, list[Binding]]:
    """The bindings of every name among the nodes of a function body."""
    found: dict[str, list[Binding]] = {}
    for node in nodes:
        for name, binding in _bindings(node):
            found.setdefault(name, []).append(binding)
    return found


def _bindings(node: ast.AST) -> Iterator[tuple[str, Binding]]:
    match node:
        case ast.Assign():
            for target in node.targets:
                yield from _assigned(target, node.value)
        case ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
            yield from _assigned(node.target, value)
        case ast.AugAssign():
            yield from _unknown(node.target)
        case ast.For() | ast.AsyncFor():
            yield from _iterated(node.target, node.iter)
        case ast.With() | ast.AsyncWith():
            for item in node.items:
                if item.optional_vars is not None:
                    yield from _unknown(item.optional_vars)
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                yield bound, Binding(How.IMPORT, origin=(node, alias))
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr), args=[*_, last]):
            if attr in PUTS:
                yield name, Binding(How.MEMBER, last)
        case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
            yield name, Binding(How.UNKNOWN)
        case ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
            yield name, Binding(How.UNKNOWN)


def comprehension_bindings(node: ast.AST, name: str) -> list[Binding]:
    """The bindings of `name` by the clauses of the comprehension `node`, if it is one."""
    if not isinstance(node, _COMPREHENSIONS):
        return []
    return [
        binding
        for clause in node.generators
        for bound, binding in _iterated(clause.target, clause.iter)
        if bound == name
    ]


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, Binding]]:
    match target, value:
        case ast.Name(), _:
            yield target.id, Binding(How.VALUE, value)
        case ast.Tuple() | ast.List(), ast.Tuple() | ast.List():
            starred = any(isinstance(e, ast.Starred) for e in [*target.elts, *value.elts])
            if starred or len(target.elts) != len(value.elts):
                yield from _unknown(target)
            else:
                for part, element in zip(target.elts, value.elts, strict=True):
                    yield from _assigned(part, element)
        case _:
            yield from _unknown(target)


def _unknown(target: ast.expr) -> Iterator[tuple[str, Binding]]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, Binding(How.UNKNOWN)


def _iterated(target: ast.expr, source: ast.expr) -> Iterator[tuple[str, Binding]]:
    if isinstance(target, ast.Name):
        yield target.id, Binding(How.ELEMENT, source)
        return
    parts = _columns(source)
    if isinstance(target, ast.Tuple) and len(target.elts) == len(parts):
        for part, column in zip(target.elts, parts, strict=True):
            if column is None:
                yield from _unknown(part)
            else:
                yield from _iterated(part, column)
    else:
        yield from _unknown(target)


def _columns(source: ast.expr) -> list[ast.expr | None]:
    """The iterables whose elements `enumerate`, `zip` or `.items()` yield side by side."""
    match source:
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
            return [None, inner]
        case ast.Call(func=ast.Name(id="zip"), args=args):
            return [None if isinstance(a, ast.Starred) else a for a in args]
        case ast.Call(func=ast.Attribute(value=inner, attr="items"), args=[]):
            return [None, inner]
    return []
