"""What calls may run, and what a function may call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from graphmend.ir.evaluate import PLAIN_DECORATORS, Evaluator
from graphmend.ir.hierarchy import external_is_module
from graphmend.ir.members import decorator_names, is_property
from graphmend.ir.module import ClassInfo, Function, Module
from graphmend.ir.values import (
    NOTHING,
    UNKNOWN,
    ClassValue,
    External,
    ExternalInstance,
    FunctionValue,
    Instance,
    Many,
    Val,
    Vals,
)

if TYPE_CHECKING:
    from graphmend.ir.project import Project

_ANY_MODULE = ExternalInstance("torch.nn.Module")
_CACHES = frozenset({"functools.lru_cache", "functools.cache"})


@dataclass(frozen=True)
class Callees:
    """What a call may run. `complete`: nothing of the project is missing from `functions`.

    A class stands for its construction. `cached`: a call with arguments seen before may run
    nothing (`functools.lru_cache`). `outside`: it may run something outside the project instead.
    """

    functions: tuple[Function | ClassInfo, ...] = ()
    complete: bool = True
    cached: bool = False
    outside: bool = False


@dataclass(frozen=True)
class Decorated:
    """What stands around a function: wrappers of the project, outermost last."""

    wrappers: tuple[Function, ...] = ()
    complete: bool = True
    cached: bool = False


class CallGraph:
    """Calls of one project, resolved when asked for."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.values = Evaluator(project)
        self._decorated: dict[Function, Decorated] = {}
        self._edges: dict[Function, tuple[Function, ...]] = {}

    def callees(
        self, call: ast.Call, function: Function | None, module: Module | None = None
    ) -> Callees:
        """Everything the call may run. `module` is needed for calls at module level only."""
        where = function.module if function is not None else module
        if where is None:
            raise ValueError("a call at module level needs its module")
        return self.run_by(self.values.of(call.func, function, where))

    def run_by(self, values: Vals) -> Callees:
        """Everything that calling one of `values` may run."""
        found: dict[Function | ClassInfo, None] = {}
        parts = [self._targets(value) for value in values]
        for part in parts:
            found.update(dict.fromkeys(part.functions))
        return Callees(
            tuple(found),
            complete=bool(parts) and all(part.complete for part in parts),
            cached=any(part.cached for part in parts),
            outside=any(part.outside for part in parts),
        )

    def _targets(self, value: Val) -> Callees:
        match value:
            case FunctionValue(function):
                around = self.decorated(function)
                return Callees((*around.wrappers, function), around.complete, around.cached)
            case ClassValue(info):
                return Callees((info,), self._project.hierarchy.known(info))
            case Instance(info, exact):
                return self._called_instance(info, exact)
            case Many(inside, sequential=True):
                return self.run_by(inside)
            case External() | ExternalInstance():
                return Callees(complete=value != _ANY_MODULE, outside=True)
        return Callees(complete=False)

    def _called_instance(self, info: ClassInfo, exact: bool) -> Callees:
        hierarchy = self._project.hierarchy
        is_module = hierarchy.is_nn_module(info)
        found: Vals = NOTHING
        for name in ("__call__", "forward") if is_module else ("__call__",):
            classes = [info, *([] if exact else hierarchy.subclasses(info))]
            methods = [hierarchy.method(c, name) for c in classes]
            found |= {FunctionValue(m, info) for m in methods if m is not None}
        return self.run_by(found) if found else Callees(complete=False)

    def callee(
        self, call: ast.Call, function: Function | None, module: Module | None = None
    ) -> Function | ClassInfo | None:
        """The one function or class of the project that the call surely runs, if there is one.

        None as well where a decorator of the project wraps the function: then there are two.
        """
        found = self.callees(call, function, module)
        sure = found.complete and not found.outside and len(found.functions) == 1
        return found.functions[0] if sure else None

    def operator(
        self, call: ast.Call, function: Function | None, module: Module | None = None
    ) -> str | None:
        """The dotted name of what the call runs, where that lies outside the project.

        "torch.where", "builtins.print", "logging.Logger.warning"; a called torch.nn object is
        "torch.nn.Linear.forward", any other called object "<class>.__call__".
        """
        where = function.module if function is not None else module
        if where is None:
            raise ValueError("a call at module level needs its module")
        values = self.values.of(call.func, function, where)
        names = {_outside_name(value) for value in values}
        return names.pop() if len(names) == 1 else None

    def instance_of(
        self, expression: ast.expr, function: Function | None, module: Module
    ) -> ClassInfo | str | None:
        """The class the expression's value is surely an instance of, by name if outside."""
        found: set[ClassInfo | str | None] = set()
        for value in self.values.of(expression, function, module):
            match value:
                case Instance(info):
                    found.add(info)
                case ExternalInstance(name):
                    found.add(name)
                case _:
                    found.add(None)
        return found.pop() if len(found) == 1 else None

    # -- decorators ------------------------------------------------------------------------

    def decorated(self, function: Function) -> Decorated:
        """The wrappers that decorators of the project put around `function`."""
        if function not in self._decorated:
            self._decorated[function] = Decorated()  # a decorator that decorates itself
            self._decorated[function] = self._wrappers(function)
        return self._decorated[function]

    def _wrappers(self, function: Function) -> Decorated:
        around: Vals = frozenset({FunctionValue(function)})
        wrappers: dict[Function, None] = {}
        complete, cached = True, False
        names = decorator_names(function)
        for decorator, name in reversed(list(zip(function.decorators, names, strict=True))):
            cached = cached or name in _CACHES
            if name in PLAIN_DECORATORS or is_property(function):
                continue
            results = NOTHING
            for value in self.values.of(decorator, function.outer, function.module):
                results |= self.values.result(value, partial(list, [around]))
            complete = complete and UNKNOWN not in results and bool(results)
            inner = [v for v in results if isinstance(v, FunctionValue)]
            for value in inner:
                if value.function is not function:
                    wrappers[value.function] = None
            around = frozenset(inner) or around
        return Decorated(tuple(wrappers), complete, cached)

    # -- what a function may run -----------------------------------------------------------

    def edges(self, function: Function) -> tuple[Function, ...]:
        """The functions that running `function` may run or hand on: calls, properties,
        context managers, functions passed as arguments or returned, lambdas.

        Constructors of classes are left out.
        """
        if function not in self._edges:
            found: dict[Function, None] = {}
            for node in function.nodes:
                found.update(dict.fromkeys(self._run_at(node, function)))
            found.pop(function, None)
            self._edges[function] = tuple(found)
        return self._edges[function]

    def _run_at(self, node: ast.AST, function: Function) -> Iterator[Function]:
        match node:
            case ast.Call():
                found = self.callees(node, function).functions
                yield from (f for f in found if isinstance(f, Function))
            case ast.Lambda():
                yield function.module.function_at(node)
            case ast.Name(ctx=ast.Load()):
                if function.module.qualified(node, function) is not None:
                    yield from self._handed_on(node, function)
            case ast.Attribute(value=ast.Name(), ctx=ast.Load()):
                yield from self._properties(node, function)
                yield from self._handed_on(node, function)
            case ast.withitem():
                values = self.values.of(node.context_expr, function, function.module)
                for value in values:
                    if isinstance(value, Instance):
                        for name in ("__enter__", "__exit__"):
                            method = self._project.member(value.info, name)
                            if method is not None:
                                yield method

    def _handed_on(self, node: ast.expr, function: Function) -> Iterator[Function]:
        for value in self.values.of(node, function, function.module):
            if isinstance(value, FunctionValue):
                yield from self.decorated(value.function).wrappers
                yield value.function

    def _properties(self, node: ast.Attribute, function: Function) -> Iterator[Function]:
        for value in self.values.of(node.value, function, function.module):
            if isinstance(value, Instance):
                method = self._project.member(value.info, node.attr)
                if method is not None and is_property(method):
                    yield method


def _outside_name(value: Val) -> str | None:
    match value:
        case External(name):
            return name
        case ExternalInstance(name) if value != _ANY_MODULE:
            return f"{name}.forward" if external_is_module(name) else f"{name}.__call__"
    return None
