"""Exception classes: what a raised expression is an instance of, what a handler catches."""

from __future__ import annotations

import ast
import builtins

from graphmend.ir.module import ClassInfo, Function
from graphmend.ir.project import Project

Ancestry = frozenset[ClassInfo | str] | None
"""A class with all its bases, builtins as "builtins.X"; None where that is not known."""


def ancestry(project: Project, raised: ast.expr | None, function: Function) -> Ancestry:
    """The classes that what `raise raised` raises is an instance of."""
    if isinstance(raised, ast.Call):
        raised = raised.func
    return None if raised is None else _class_ancestry(project, raised, function)


def _class_ancestry(project: Project, named: ast.expr, function: Function) -> Ancestry:
    qualified = function.module.qualified(named, function)
    if qualified is None:
        return None
    found = project.follow(qualified, function.module, third_party=True)
    if isinstance(found, ClassInfo):
        classes: set[ClassInfo | str] = set()
        for base in project.hierarchy.order(found):
            above = builtin_ancestry(base) if isinstance(base, str) else frozenset({base})
            if above is None:
                return None
            classes |= above
        return frozenset(classes)
    return builtin_ancestry(found) if isinstance(found, str) else None


def builtin_ancestry(name: str) -> Ancestry:
    """The bases of a builtin exception class by its dotted name; None for other names."""
    prefix, _, last = name.rpartition(".")
    found = getattr(builtins, last, None) if prefix == "builtins" else None
    if not isinstance(found, type):
        return None
    return frozenset(f"builtins.{c.__name__}" for c in found.__mro__)


def catches(project: Project, caught: ast.expr, raised: Ancestry, function: Function) -> bool:
    """Whether `except caught`, standing in `function`, may catch an instance of `raised`."""
    if isinstance(caught, ast.Tuple):
        return any(catches(project, part, raised, function) for part in caught.elts)
    qualified = function.module.qualified(caught, function)
    found = project.follow(qualified, function.module, third_party=True) if qualified else None
    if found in {"builtins.BaseException", "builtins.Exception"}:
        return True
    if raised is None or not isinstance(found, ClassInfo | str):
        return True
    return found in raised
