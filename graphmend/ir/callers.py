"""Who calls a function: a text search for its name over the project, then the syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING

from graphmend.ir.members import is_property
from graphmend.ir.module import Function, Module
from graphmend.ir.values import UNKNOWN, FunctionValue, Instance, Vals

if TYPE_CHECKING:
    from graphmend.ir.project import Project

_MAX_FILES = 16  # parsed to list all callers
_MAX_SEARCHED = 200  # parsed one after another, until a caller is found
_MAX_INSTANCE_FILES = 12
_CALLED_AS_OBJECT = frozenset({"forward", "__call__"})


class Use(Enum):
    """How a site uses the function."""

    CALL = auto()
    """It calls the function."""
    MAYBE = auto()
    """It calls a method of this name, with fitting arguments, on something unknown."""
    REFERENCE = auto()
    """It hands the function on: as an argument, a value, an entry of a table."""
    DECORATOR = auto()
    """It decorates another function with it."""


@dataclass(frozen=True)
class CallSite:
    """A place that calls a function or hands it on.

    `function` is the function around the place, None at module level; for decorators, the one
    that is decorated. `call` is the call, or the name where there is none.
    """

    function: Function | None
    call: ast.expr
    module: Module
    use: Use


@dataclass(frozen=True)
class LocalCall:
    """A call of a function in the module that defines it; no `function` at module level."""

    function: Function | None
    call: ast.Call


@dataclass(frozen=True)
class CallersUnknown:
    """The callers of a function cannot be listed; `reason` says why, for people."""

    reason: str


class Callers:
    """Finds the callers of functions in one project, memoised by function."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._names: dict[Module, dict[str, list[ast.Name | ast.Attribute]]] = {}
        self._aliases: dict[Module, dict[str, list[str]]] = {}
        self._calls: dict[Module, list[ast.Call]] = {}
        self._found: dict[Function, list[CallSite] | CallersUnknown] = {}
        self._local: dict[Function, list[LocalCall]] = {}

    def of(self, function: Function) -> list[CallSite] | CallersUnknown:
        """Every use of the function in the project, nearest files first."""
        if function not in self._found:
            sites = self.search(function)
            if not isinstance(sites, CallersUnknown) and not _is_called_as_object(function):
                paths = self._mentioning(function) or []
                if len(paths) > _MAX_FILES and function.outer is None:
                    paths = self._related(function, paths)
                    sites = self._by_name(function, paths)
                if len(paths) > _MAX_FILES and function.outer is None:
                    sites = CallersUnknown(f"{len(paths)} files name {function.name}")
            self._found[function] = sites if isinstance(sites, CallersUnknown) else list(sites)
        return self._found[function]

    def search(
        self, function: Function, max_files: int | None = None
    ) -> Iterator[CallSite] | CallersUnknown:
        """As `of`, but one site after another, so that a search can stop early.

        With `max_files`, that many files are looked into, the nearest ones; for methods only
        files that name the class, or one that derives from it in the same module.
        """
        if function in self._found:
            known = self._found[function]
            return known if isinstance(known, CallersUnknown) else iter(known)
        if isinstance(function.node, ast.Lambda):
            return CallersUnknown("a lambda has no name to look for")
        if function.outer is not None:
            return self._by_name(function, [function.module.path])
        if _is_called_as_object(function):
            return self._instances(function)
        if function.name.startswith("__") and function.name.endswith("__"):
            return CallersUnknown(f"{function.name} is called by the language")
        paths = self._mentioning(function)
        if paths is None or len(paths) > _MAX_SEARCHED:
            return CallersUnknown(f"the name {function.name} is too common to look for")
        if max_files is not None:
            paths = self._related(function, paths)[:max_files]
        return self._by_name(function, paths)

    def local_calls(self, function: Function) -> list[LocalCall]:
        """The calls of the function in its own module; no other file is read for them."""
        if function not in self._local:
            path = [function.module.path]
            called = _is_called_as_object(function)
            sites = self._instance_calls(function, path) if called else self._named(function, path)
            self._local[function] = [
                LocalCall(site.function, site.call)
                for site in sites
                if site.use is Use.CALL and isinstance(site.call, ast.Call)
            ]
        return self._local[function]

    def _named(self, function: Function, paths: list[Path]) -> Iterator[CallSite]:
        return iter(()) if isinstance(function.node, ast.Lambda) else self._by_name(function, paths)

    def _mentioning(self, function: Function) -> list[Path] | None:
        """The files that may use the function by its name, nearest first."""
        paths, own = self._project.mentioning(function.name), function.module.path
        if paths is not None and function.owner is None:
            reach = self._project.could_import
            paths = [p for p in paths if p == own or reach(p, function.name)]
        return nearest_first(paths, own) if paths is not None else None

    def _related(self, function: Function, paths: list[Path]) -> list[Path]:
        """For a method, the files that name its class or hold a base class or subclass of it."""
        if function.owner is None:
            return paths
        hierarchy = self._project.hierarchy
        own = [function.owner, *hierarchy.subclasses(function.owner)]
        near = {a.module.path for a in hierarchy.ancestors(function.owner)}
        for info in own:
            near.update(self._project.mentioning(info.name) or ())
        return [path for path in paths if path in near]

    # -- by the function's own name --------------------------------------------------------

    def _by_name(self, function: Function, paths: list[Path]) -> Iterator[CallSite]:
        for path in paths:
            module = self._project.module_at(path)
            if module is not None:
                for node in self._uses(module, function.name):
                    site = self._site(node, function, module)
                    if site is not None:
                        yield site

    def _uses(self, module: Module, name: str) -> list[ast.Name | ast.Attribute]:
        """The loads of `name`, and of the names it is imported as, in source order."""
        found = list(self._index(module).get(name, ()))
        for other in self._imported_as(module).get(name, ()):
            found += self._index(module).get(other, ())
        return sorted(found, key=lambda node: (node.lineno, node.col_offset))

    def _imported_as(self, module: Module) -> dict[str, list[str]]:
        """The other names under which the module imports a name."""
        if module not in self._aliases:
            aliases: dict[str, list[str]] = {}
            for other, targets in self._project.namespace(module).imports.items():
                for name in {target.rpartition(".")[2] for target in targets} - {other}:
                    aliases.setdefault(name, []).append(other)
            self._aliases[module] = aliases
        return self._aliases[module]

    def _index(self, module: Module) -> dict[str, list[ast.Name | ast.Attribute]]:
        if module not in self._names:
            names: dict[str, list[ast.Name | ast.Attribute]] = {}
            for node in module.nodes:
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    names.setdefault(node.id, []).append(node)
                elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    names.setdefault(node.attr, []).append(node)
            self._names[module] = names
        return self._names[module]

    def _site(
        self, node: ast.Name | ast.Attribute, function: Function, module: Module
    ) -> CallSite | None:
        around = module.function_of(node)
        parent = module.parent(node)
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        if isinstance(node, ast.Attribute) and is_property(function):
            return self._read(node, function, module)
        values = self._project.graph.values.of(node, around, module)
        meant = self._overridden(function)
        if any(isinstance(v, FunctionValue) and v.function in meant for v in values):
            holder = module.parent(call) if call is not None else parent
            top = call or node
            if isinstance(holder, ast.FunctionDef | ast.AsyncFunctionDef):
                if top in holder.decorator_list:
                    return CallSite(module.function_at(holder), top, module, Use.DECORATOR)
            if call is not None:
                return CallSite(around, call, module, Use.CALL)
            given = parent if isinstance(parent, ast.Call) else node
            return CallSite(around, given, module, Use.REFERENCE)
        if UNKNOWN in values and isinstance(node, ast.Attribute) and function.owner is not None:
            if call is not None and _fits(call, function):
                return CallSite(around, call, module, Use.MAYBE)
        return None

    def _overridden(self, function: Function) -> set[Function]:
        """The function and, for a method, those of base classes that it overrides."""
        if function.owner is None:
            return {function}
        ancestors = self._project.hierarchy.ancestors(function.owner)
        return {function} | {
            a.methods[function.name] for a in ancestors if function.name in a.methods
        }

    def _read(self, node: ast.Attribute, function: Function, module: Module) -> CallSite | None:
        around = module.function_of(node)
        values = self._project.graph.values.of(node.value, around, module)
        for value in values:
            if isinstance(value, Instance):
                if self._project.member(value.info, node.attr) is function:
                    return CallSite(around, node, module, Use.CALL)
        return CallSite(around, node, module, Use.MAYBE) if UNKNOWN in values else None

    # -- by the class whose instances are called -------------------------------------------

    def _instances(self, function: Function) -> Iterator[CallSite] | CallersUnknown:
        assert function.owner is not None
        paths = self._project.mentioning(function.owner.name)
        if paths is None:
            return CallersUnknown("the project has too many files to search")
        near = nearest_first(paths, function.module.path)[:_MAX_INSTANCE_FILES]
        return self._instance_calls(function, near)

    def _instance_calls(self, function: Function, paths: list[Path]) -> Iterator[CallSite]:
        for path in paths:
            module = self._project.module_at(path)
            for call in self._all_calls(module) if module is not None else ():
                assert module is not None
                around = module.function_of(call)
                values = self._project.graph.values.of(call.func, around, module)
                if self._runs(values, function):
                    yield CallSite(around, call, module, Use.CALL)
            for name in _CALLED_AS_OBJECT if module is not None else ():
                assert module is not None
                for node in self._index(module).get(name, ()):
                    site = self._site(node, function, module)
                    if site is not None and site.use is Use.REFERENCE:
                        yield site

    def _runs(self, values: Vals, function: Function) -> bool:
        """Whether calling one of `values` runs the method; decorators matter to nobody here."""
        direct = any(isinstance(v, FunctionValue) and v.function is function for v in values)
        return direct or (
            any(isinstance(v, Instance) for v in values)
            and function in self._project.graph.run_by(values).functions
        )

    def _all_calls(self, module: Module) -> list[ast.Call]:
        if module not in self._calls:
            self._calls[module] = [
                node
                for node in module.nodes
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
            ]
        return self._calls[module]


def nearest_first(paths: list[Path], path: Path) -> list[Path]:
    """The paths ordered by how much of their folders they share with `path`, itself first."""

    def distance(other: Path) -> tuple[int, str]:
        shared = 0
        for one, two in zip(other.parts, path.parts, strict=False):
            if one != two:
                break
            shared += 1
        return -shared, str(other)

    return sorted(paths, key=distance)


def _is_called_as_object(function: Function) -> bool:
    return function.owner is not None and function.name in _CALLED_AS_OBJECT


def _fits(call: ast.Call, method: Function) -> bool:
    """Whether a method call could be one of `method`, judging by its arguments."""
    arguments = method.node.args
    own = arguments.posonlyargs + arguments.args
    accepted = {a.arg for a in [*own, *arguments.kwonlyargs]}
    given = [k.arg for k in call.keywords if k.arg is not None]
    if arguments.kwarg is None and not accepted.issuperset(given):
        return False
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    starred = starred or any(k.arg is None for k in call.keywords)
    room = len(own) - 1
    if arguments.vararg is None and len(call.args) > room and not starred:
        return False
    required = max(room - len(arguments.defaults), 0)
    return starred or len(call.args) + len(given) >= required
