"""Attributes, parameters and `super()` in the value interpreter."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphmend.ir.bindings import PUTS
from graphmend.ir.hierarchy import UNKNOWN as UNKNOWN_BASE
from graphmend.ir.hierarchy import external_is_module
from graphmend.ir.module import ClassInfo, Function, Module
from graphmend.ir.values import (
    ANYTHING,
    NOTHING,
    ClassValue,
    External,
    ExternalInstance,
    FunctionValue,
    Instance,
    Many,
    Super,
    Val,
    Vals,
)

if TYPE_CHECKING:
    from graphmend.ir.evaluate import Evaluator
    from graphmend.ir.project import Project

# What torch.nn.Module itself defines; other names are set from somewhere that was not seen.
_MODULE_METHODS = frozenset(
    """add_module apply bfloat16 buffers children compile cpu cuda double eval extra_repr float
    forward get_buffer get_parameter get_submodule half load_state_dict modules named_buffers
    named_children named_modules named_parameters parameters register_backward_hook register_buffer
    register_forward_hook register_forward_pre_hook register_full_backward_hook
    register_full_backward_pre_hook register_module register_parameter requires_grad_
    set_submodule share_memory state_dict to to_empty train type zero_grad __init__ __call__
    __getattr__ __setattr__ __delattr__ __dir__ __repr__""".split()
)
_PROPERTIES = frozenset({"builtins.property", "functools.cached_property"})


def decorator_names(function: Function) -> list[str | None]:
    """The dotted names of the decorators, those of calls by what is called; None: unknown."""
    module = function.module
    around = function.outer
    names = []
    for decorator in function.decorators:
        inner = decorator.func if isinstance(decorator, ast.Call) else decorator
        names.append(module.qualified(inner, around))
    return names


def is_property(function: Function) -> bool:
    """Whether reading the attribute calls the function."""
    return any(
        isinstance(d, ast.Attribute) and d.attr in {"setter", "getter"} for d in function.decorators
    ) or not _PROPERTIES.isdisjoint(decorator_names(function))


class Members:
    """What attributes of values may be; memoises what classes put into their attributes."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self._project = project
        self._evaluator = evaluator
        self._puts: dict[ClassInfo, dict[str, list[tuple[Function, ast.expr]]]] = {}
        self._patches: dict[Module, dict[str, list[ast.expr]]] = {}

    def attribute(self, base: Vals, name: str) -> Vals:
        """What `name` of the values `base` may be."""
        found: Vals = NOTHING
        for value in base:
            found |= self._of(value, name)
        return found

    def _of(self, value: Val, name: str) -> Vals:
        match value:
            case Instance(info, exact):
                return self._of_instance(info, exact, name)
            case ClassValue(info):
                return self._of_class(info, name)
            case Super(info, after):
                method = self._project.hierarchy.method(info, name, after)
                if method is not None:
                    return frozenset({FunctionValue(method, info)})
                return self._outside(info, name)
            case External(outer):
                return frozenset({External(f"{outer}.{name}")})
            case ExternalInstance(outer, origin):
                patched = self._patched(outer, name, origin) if origin is not None else []
                if not patched or origin is None:
                    return frozenset({External(f"{outer}.{name}")})
                return self._bind(patched, origin)
        return ANYTHING

    def _of_instance(self, info: ClassInfo, exact: bool, name: str) -> Vals:
        found: set[Val] = set()
        method = self._project.hierarchy.method(info, name)
        if method is None and name == "__call__" and self._project.class_is_module(info):
            method = self._project.hierarchy.method(info, "forward")
        if method is not None:
            found |= ANYTHING if is_property(method) else {self._bound(method, info)}
        classes = self._project.hierarchy.ancestors(info)
        if not exact:
            for sub in self._project.hierarchy.subclasses(info):
                if name in sub.methods:
                    found.add(FunctionValue(sub.methods[name], sub))
        for owner in classes:
            for where, expression in owner.attributes.get(name, ()):
                if expression is None:
                    found |= ANYTHING
                else:
                    found |= self._evaluator.of(expression, where, owner.module)
            for where, expression in self._put_into(owner).get(name, ()):
                inside = self._evaluator.of(expression, where, owner.module)
                found.add(Many(inside))
        if method is None:
            found |= self._class_level(classes, name)
        return frozenset(found) or self._outside(info, name)

    def _of_class(self, info: ClassInfo, name: str) -> Vals:
        method = self._project.hierarchy.method(info, name)
        if method is not None:
            bound = "builtins.classmethod" in decorator_names(method)
            return frozenset({FunctionValue(method, info if bound else None)})
        found = self._class_level(self._project.hierarchy.ancestors(info), name)
        return found or self._outside(info, name)

    def _class_level(self, classes: list[ClassInfo], name: str) -> Vals:
        for owner in classes:
            found = owner.assigns.get(name)
            if found:
                around = owner.module.function_of(owner.node)
                values = [
                    ANYTHING if e is None else self._evaluator.of(e, around, owner.module)
                    for e in found
                ]
                return NOTHING.union(*values)
        return NOTHING

    def _outside(self, info: ClassInfo, name: str) -> Vals:
        """A member that no parsed class defines: that of the first class outside."""
        for base in self._project.hierarchy.order(info):
            if base == UNKNOWN_BASE:
                return ANYTHING
            if isinstance(base, str) and base not in {"typing.Generic", "abc.ABC"}:
                if external_is_module(base):
                    base = "torch.nn.Module"
                    if name not in _MODULE_METHODS:
                        return ANYTHING
                return frozenset({External(f"{base}.{name}")})
        return ANYTHING

    @staticmethod
    def _bound(method: Function, info: ClassInfo) -> FunctionValue:
        static = "builtins.staticmethod" in decorator_names(method)
        return FunctionValue(method, None if static else info)

    # -- what is put into attributes and classes from elsewhere ----------------------------

    def _put_into(self, owner: ClassInfo) -> dict[str, list[tuple[Function, ast.expr]]]:
        """The elements added to containers on `self`: `self.name.append(element)`."""
        if owner not in self._puts:
            puts: dict[str, list[tuple[Function, ast.expr]]] = {}
            self._puts[owner] = puts
            for method in owner.methods.values():
                for node in method.nodes:
                    match node:
                        case ast.Call(
                            func=ast.Attribute(
                                value=ast.Attribute(value=ast.Name(id=base), attr=name), attr=put
                            ),
                            args=[*_, last],
                        ) if put in PUTS and method.params[:1] == [base]:
                            puts.setdefault(name, []).append((method, last))
        return self._puts[owner]

    def _patched(self, outer: str, name: str, origin: Module) -> list[ast.expr]:
        """What `origin` assigns to the attribute of an outside class: `Logger.once = once`."""
        if origin not in self._patches:
            patches: dict[str, list[ast.expr]] = {}
            for statement in origin.tree.body:
                match statement:
                    case ast.Assign(targets=[ast.Attribute(value=base, attr=attr)], value=value):
                        patches.setdefault(f"{origin.qualified(base, None)}.{attr}", []).append(
                            value
                        )
            self._patches[origin] = patches
        return self._patches[origin].get(f"{outer}.{name}", [])

    def _bind(self, expressions: list[ast.expr], origin: Module) -> Vals:
        return NOTHING.union(*(self._evaluator.of(e, None, origin) for e in expressions))

    # -- parameters and results ------------------------------------------------------------

    def super_of(self, function: Function) -> Vals:
        """`super()` inside `function`."""
        while function.owner is None:
            if function.outer is None:
                return ANYTHING
            function = function.outer
        return frozenset({Super(function.owner, function.owner)})

    def parameter(self, name: str, function: Function) -> Vals:
        """What a parameter may be: `self`, `cls`, or an instance of its annotated class."""
        owner = function.owner
        names = decorator_names(function) if owner is not None else []
        if owner is not None and function.params[:1] == [name]:
            if "builtins.classmethod" in names or function.name == "__new__":
                return frozenset({ClassValue(owner)})
            if "builtins.staticmethod" not in names:
                return frozenset({Instance(owner, exact=False)})
        arguments = function.node.args
        for arg in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            if arg.arg == name and arg.annotation is not None:
                return ANYTHING | self._annotated(arg.annotation, function)
        return ANYTHING

    def declared(self, function: Function) -> Vals:
        """Instances of the class that the function says it returns; empty where it does not."""
        if isinstance(function.node, ast.Lambda) or function.node.returns is None:
            return NOTHING
        return self._annotated(function.node.returns, function)

    def _annotated(self, annotation: ast.expr, function: Function) -> Vals:
        found: set[Val] = set()
        for name in _class_names(annotation):
            for value in self._evaluator.of(name, function.outer, function.module):
                if isinstance(value, ClassValue):
                    found.add(Instance(value.info, exact=False))
                elif isinstance(value, External) and _is_class_name(value.name):
                    found.add(ExternalInstance(value.name, function.module))
        return frozenset(found)


def _class_names(annotation: ast.expr) -> list[ast.expr]:
    """The classes an annotation names: through `Optional[...]`, unions."""
    match annotation:
        case ast.Name() | ast.Attribute():
            return [annotation]
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return [*_class_names(left), *_class_names(right)]
        case ast.Subscript(value=ast.Name(id="Optional" | "Union"), slice=inner):
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return [name for part in parts for name in _class_names(part)]
    return []


def _is_class_name(name: str) -> bool:
    prefix, _, last = name.rpartition(".")
    return last[:1].isupper() and prefix != "typing"
