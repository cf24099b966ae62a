"""What a name at the top level of a module is bound to, followed across modules.

Imports under `if TYPE_CHECKING` count: packages that load their modules lazily say there what
their names stand for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphmend.ir.module import ClassInfo, Function, Module

if TYPE_CHECKING:
    from graphmend.ir.project import Project

_MAX_HOPS = 12
_MAX_STARS = 12  # packages that star-import hundreds of modules are not searched


@dataclass(frozen=True)
class Value:
    """A module-level variable: the expressions assigned to it, in source order."""

    module: Module
    name: str
    values: tuple[ast.expr, ...]


Definition = Function | ClassInfo | Value
Found = Definition | str | None
"""A definition of a parsed module, the dotted name of what lies outside, or no answer."""


@dataclass
class Namespace:
    """The top level of a module: where each name is imported from or what it is assigned."""

    imports: dict[str, list[str]] = field(default_factory=dict)
    values: dict[str, list[ast.expr]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)


def namespace(module: Module) -> Namespace:
    """Read the imports and assignments at the top level of `module`."""
    result = Namespace()
    for statement in _top_level(module.tree.body):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                bound = alias.asname or alias.name.partition(".")[0]
                target = alias.name if alias.asname else bound
                result.imports.setdefault(bound, []).append(target)
        elif isinstance(statement, ast.ImportFrom):
            origin = module.imported_module(statement)
            if origin is None:
                continue
            for alias in statement.names:
                if alias.name == "*":
                    result.stars.append(origin)
                else:
                    target = f"{origin}.{alias.name}"
                    result.imports.setdefault(alias.asname or alias.name, []).append(target)
        elif isinstance(statement, ast.Assign):
            for name in statement.targets:
                if isinstance(name, ast.Name):
                    result.values.setdefault(name.id, []).append(statement.value)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if statement.value is not None:
                result.values.setdefault(statement.target.id, []).append(statement.value)
    return result


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        match statement:
            case ast.If():
                yield from _top_level(statement.body)
                yield from _top_level(statement.orelse)
            case ast.Try() | ast.TryStar():
                yield from _top_level(statement.body)
                for handler in statement.handlers:
                    yield from _top_level(handler.body)
                yield from _top_level(statement.orelse)
                yield from _top_level(statement.finalbody)
            case ast.With():
                yield from _top_level(statement.body)


def lookup(
    project: Project, module: Module, parts: list[str], third_party: bool, hops: int = 0
) -> Found:
    """What `parts`, attribute after attribute, mean at the top level of `module`."""
    if hops > _MAX_HOPS or not parts:
        return None
    head, rest = parts[0], parts[1:]
    found: Found
    if module.may_define(head):
        qualname = ".".join(parts)
        found = module.functions.get(qualname) or module.classes.get(qualname)
        if found is not None:
            return found
        if head in module.classes:
            return project.member(module.classes[head], rest[0]) if len(rest) == 1 else None
    names = project.namespace(module)
    for target in names.imports.get(head, ()):
        found = project.follow(".".join([target, *rest]), module, third_party, hops + 1)
        if found is not None:
            return found
    if head in names.imports:
        return None
    if head in names.values:
        return _value(project, module, head, rest, third_party, hops)
    if head.startswith("_") or len(names.stars) > _MAX_STARS:
        return None
    for star in names.stars:
        found = project.follow(".".join([star, *parts]), module, third_party, hops + 1)
        if found is not None and not isinstance(found, str):
            return found
    return None


def _value(
    project: Project,
    module: Module,
    name: str,
    rest: list[str],
    third_party: bool,
    hops: int,
) -> Found:
    """A module-level variable; one that only renames a definition is followed."""
    values = tuple(project.namespace(module).values[name])
    if len(values) == 1 and isinstance(values[0], ast.Name | ast.Attribute):
        target = module.qualified(values[0], None)
        if target is not None:
            found = project.follow(".".join([target, *rest]), module, third_party, hops + 1)
            if found is not None:
                return found
    return None if rest else Value(module, name, values)
