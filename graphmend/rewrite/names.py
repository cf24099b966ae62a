"""Names for what a rewrite introduces: telling, and never used in the module before."""

from __future__ import annotations

import ast
import builtins
import keyword

from graphmend.ir.module import Module

_LONGEST = 32


class Names:
    """Hands out names that no code of the module, and no builtin, uses."""

    def __init__(self, module: Module) -> None:
        self._taken = set(module.identifiers()) | set(dir(builtins)) | set(keyword.kwlist)

    def fresh(self, wish: str) -> str:
        """`wish`, or `wish_2`, `wish_3` ..; the name is taken from then on."""
        return fresh(wish, self._taken)


def fresh(wish: str, taken: set[str]) -> str:
    """`wish`, or the first of `wish_2`, `wish_3` .. that is not taken; it is taken from then on."""
    name, number = wish, 1
    while name in taken:
        number += 1
        name = f"{wish}_{number}"
    taken.add(name)
    return name


def telling_name(expression: ast.expr) -> str | None:
    """A parameter name for the value of an expression: `x.mean()` gives `x_mean`."""
    parts = _words(expression)
    if not parts or isinstance(expression, ast.Compare | ast.BinOp):
        return None
    name = "_".join(parts).strip("_")
    fits = name.isidentifier() and len(name) <= _LONGEST
    return name if fits and not keyword.iskeyword(name) and not hasattr(builtins, name) else None


def _words(expression: ast.expr) -> list[str]:
    match expression:
        case ast.Name(id=name):
            return [] if name in ("self", "cls", "torch") else [name.strip("_")]
        case ast.Attribute(value=value, attr=attr):
            return [*_words(value)[-1:], attr.strip("_")]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=attr), args=[first, *_]):
            return [*_words(first)[-2:], attr.strip("_")]
        case ast.Call(func=ast.Attribute() as func):
            return _words(func)[-3:]
        case ast.Call(func=ast.Name(id=name), args=[first, *_]):
            return [name, *_words(first)[-1:]]
        case ast.Subscript(value=value):
            return _words(value)
        case ast.UnaryOp(operand=operand) | ast.Compare(left=operand) | ast.BinOp(left=operand):
            return _words(operand)
    return []
