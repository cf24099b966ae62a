"""Kinds of attributes and of names from outside the function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from graphmend.analyses.annotations import annotated
from graphmend.analyses.kind import (
    MODULE,
    NONE,
    SCALAR,
    STATIC,
    TENSOR,
    UNKNOWN,
    Kind,
    Tag,
    join,
)
from graphmend.analyses.operators import facts, module_facts
from graphmend.ir.definitions import Value
from graphmend.ir.module import ClassInfo, Function, Module
from graphmend.ir.symbols import attribute_stores, receiver

if TYPE_CHECKING:
    from graphmend.analyses.kinds import Kinds

_FOLDED = frozenset("shape dtype device ndim is_cuda requires_grad layout training config".split())
_REGISTERS = frozenset({"register_buffer", "register_parameter"})
_LAYER_TENSORS = frozenset("weight bias running_mean running_var in_proj_weight".split())
_PROPERTIES = frozenset({"property", "cached_property"})
_STATIC_MODULES = ("torch.", "math.", "sys.", "os.", "logging.", "numpy.", "builtins.", "string.")


def attribute(
    kinds: Kinds, node: ast.Attribute, function: Function | None, again: Callable[[ast.expr], Kind]
) -> Kind:
    """The kind of `value.attr`."""
    name = function.module.qualified(node, function) if function is not None else None
    if name is not None:
        return _global(kinds, name, function)
    owner = instance_of(kinds, node.value, function)
    if owner is not None:
        return member(kinds, owner, node.attr)
    receiver_kind = again(node.value)
    match receiver_kind.tag:
        case Tag.TENSOR:
            return _of_tensor(receiver_kind, node.attr)
        case Tag.STATIC | Tag.SCALAR:
            return Kind(receiver_kind.tag)
        case Tag.NUMPY:
            return STATIC if node.attr in _FOLDED | {"size"} else receiver_kind
        case Tag.CONTAINER if node.attr in receiver_kind.fields and receiver_kind.items:
            return receiver_kind.items[receiver_kind.fields.index(node.attr)]
        case Tag.MODULE:
            return _of_layer(receiver_kind, node.attr)
    return STATIC if node.attr in _FOLDED else UNKNOWN


def _of_tensor(tensor: Kind, name: str) -> Kind:
    found = facts(name)
    if found is None or not found.attribute:
        return UNKNOWN
    if found.returns == "static":
        return SCALAR if tensor.data_shape and name in ("shape", "nbytes") else STATIC
    return replace(tensor, fields=())


def _of_layer(layer: Kind, name: str) -> Kind:
    if name == "training":
        return STATIC
    found = module_facts(layer.name) if layer.name is not None else None
    if found is None:
        return STATIC if name in _FOLDED else UNKNOWN
    if name in _LAYER_TENSORS:
        return replace(TENSOR, optional=name == "bias")
    return STATIC if name in found.static else UNKNOWN


# -- instances -----------------------------------------------------------------------------


def instance_of(kinds: Kinds, node: ast.expr, function: Function | None) -> ClassInfo | None:
    """The class that `self` in a method (or a function inside one) is an instance of."""
    while function is not None and isinstance(node, ast.Name):
        if function.is_local(node.id):
            return function.owner if receiver(function) == node.id else None
        function = function.outer
    return None


def member(kinds: Kinds, info: ClassInfo, name: str) -> Kind:
    """The kind of an attribute of an instance, by what its classes assign to it."""
    return kinds.compute(("member", info, name), lambda: _member(kinds, info, name))


def _member(kinds: Kinds, info: ClassInfo, name: str) -> Kind:
    if name == "training" and kinds.project.class_is_module(info):
        return STATIC
    found: list[Kind] = []
    for base in kinds.project.hierarchy.ancestors(info):
        found += [_assigned(kinds, site, name, value) for site, value in stores(base, name)]
        found += [TENSOR] if name in registered_names(kinds, base) else []
        if name in base.methods and not found:
            return _method_attribute(kinds, base.methods[name])
        if not found:
            found += _class_level(kinds, base, name)
    if found:
        return join(found)
    return STATIC if name in _FOLDED else UNKNOWN


def _method_attribute(kinds: Kinds, method: Function) -> Kind:
    return kinds.returns(method) if _is_property(method) else UNKNOWN


def _is_property(method: Function) -> bool:
    names = {
        d.attr if isinstance(d, ast.Attribute) else getattr(d, "id", "") for d in method.decorators
    }
    return bool(names & _PROPERTIES)


def _assigned(kinds: Kinds, site: Function, name: str, value: ast.expr | None) -> Kind:
    if value is not None:
        return kinds.evaluate(value, site)
    for statement in site.statements:
        if isinstance(statement, ast.AugAssign) and _is_member(statement.target, name):
            found = kinds.evaluate(statement.value, site)
            return Kind(Tag.BOTTOM) if found.folds else found
    return UNKNOWN


def _is_member(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Attribute) and target.attr == name


def _class_level(kinds: Kinds, info: ClassInfo, name: str) -> Iterator[Kind]:
    for statement in info.node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if statement.target.id == name:
                yield annotated(statement.annotation, info.module, None)
        elif isinstance(statement, ast.Assign):
            if any(isinstance(t, ast.Name) and t.id == name for t in statement.targets):
                yield _at_top(kinds, statement.value, info.module)


def stores(info: ClassInfo, name: str) -> list[tuple[Function, ast.expr | None]]:
    """The assignments to `self.name` in the methods of the class, each with its value."""
    # Attributes are collected when the module's classes are asked for.
    return info.attributes.get(name, []) if info.module.classes else []


def registered_names(kinds: Kinds, info: ClassInfo) -> frozenset[str]:
    """The names under which the class's methods register buffers and parameters."""
    if info not in kinds.registered:
        nodes = (n for method in info.methods.values() for n in method.nodes)
        names = (_registered(node) for node in nodes)
        kinds.registered[info] = frozenset(name for name in names if name is not None)
    return kinds.registered[info]


def _registered(node: ast.AST) -> str | None:
    match node:
        case ast.Call(func=ast.Attribute(attr=register), args=[ast.Constant(value=str(name)), *_]):
            return name if register in _REGISTERS else None
    return None


# -- names from outside --------------------------------------------------------------------


def free(kinds: Kinds, name: ast.Name, function: Function) -> Kind:
    """The kind of a name that the function does not bind itself."""
    outer = function.outer
    while outer is not None:
        if outer.is_local(name.id):
            return _of_outer(kinds, name.id, outer)
        outer = outer.outer
    found = function.module.qualified(name, function)
    if found is not None:
        return _global(kinds, found, function)
    return _module_level(kinds, name.id, function.module)


def _of_outer(kinds: Kinds, name: str, outer: Function) -> Kind:
    """Every definition of a closure's variable counts: the call may come at any time."""
    found = []
    for binding in outer.scope.bindings_of(name):
        if binding.kind == "parameter":
            from graphmend.analyses import parameters

            found.append(parameters.parameter(kinds, name, outer))
        else:
            found.append(kinds.bound_by(binding.node, name, outer, binding.value))
    return join(found) if found else UNKNOWN


def _module_level(kinds: Kinds, name: str, module: Module) -> Kind:
    bindings = module.scopes.module.bindings_of(name)
    values = [b.value for b in bindings]
    if not values or any(value is None for value in values):
        return UNKNOWN
    return join(_at_top(kinds, value, module) for value in values if value is not None)


def _global(kinds: Kinds, name: str, function: Function | None) -> Kind:
    found = kinds.project.definition(name, function.module if function is not None else None)
    if isinstance(found, Value):
        key = ("global", found.module.name, found.name)
        return kinds.compute(
            key, lambda: join(_at_top(kinds, v, found.module) for v in found.values)
        )
    if found is not None:
        return UNKNOWN
    return STATIC if name.startswith(_STATIC_MODULES) else UNKNOWN


def _at_top(kinds: Kinds, value: ast.expr, module: Module) -> Kind:
    """The kind of an expression at the top level of a module or class."""
    match value:
        case ast.Constant(value=None):
            return NONE
        case ast.Constant() | ast.JoinedStr():
            return STATIC
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return Kind(Tag.CONTAINER, element=join(_at_top(kinds, p, module) for p in parts))
        case ast.Dict(values=parts):
            return Kind(Tag.CONTAINER, element=join(_at_top(kinds, p, module) for p in parts))
        case ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.Compare():
            parts = [c for c in ast.iter_child_nodes(value) if isinstance(c, ast.expr)]
            return join(_at_top(kinds, part, module) for part in parts)
        case ast.Name() | ast.Attribute():
            name = module.qualified(value, None)
            return STATIC if name is not None and name.startswith(_STATIC_MODULES) else UNKNOWN
        case ast.Call():
            return _made_at_top(kinds, value, module)
    return UNKNOWN


def _made_at_top(kinds: Kinds, node: ast.Call, module: Module) -> Kind:
    from graphmend.analyses import calls

    name = module.qualified(node.func, None)
    if name is None:
        return UNKNOWN
    found = kinds.project.definition(name, module)
    if isinstance(found, Function):
        return kinds.returns(found)
    if isinstance(found, ClassInfo):
        return (
            replace(MODULE, name=found.qualified)
            if kinds.project.class_is_module(found)
            else UNKNOWN
        )
    return calls.made(name, node, lambda part: _at_top(kinds, part, module))


# -- what an attribute load may do ---------------------------------------------------------


def tensor_attribute(name: str) -> bool:
    """Whether every tensor has an attribute or method of this name."""
    return facts(name) is not None


def property_of(kinds: Kinds, info: ClassInfo, name: str) -> Function | None:
    """The getter that loading `self.name` runs, if the name is a property."""
    for base in kinds.project.hierarchy.ancestors(info):
        method = base.methods.get(name)
        if method is not None:
            return method if _is_property(method) else None
    return None


def surely_set(kinds: Kinds, info: ClassInfo, name: str) -> bool:
    """Whether every instance has the attribute: a method, a class attribute, set by `__init__`."""
    if name == "training" and kinds.project.class_is_module(info):
        return True
    for base in kinds.project.hierarchy.ancestors(info):
        made = base.methods.get("__init__")
        if name in base.methods or made is not None and _sets(made, base, name):
            return True
        if any(value is not None for value in base.assigns.get(name, ())):
            return True
    return False


def _sets(made: Function, info: ClassInfo, name: str) -> bool:
    """Whether `__init__` sets the attribute unconditionally, at the top of its body."""
    if isinstance(made.node, ast.Lambda):
        return False
    own = receiver(made)
    for statement in made.node.body:
        for target, _ in attribute_stores(statement):
            if target.attr == name and isinstance(target.value, ast.Name):
                if target.value.id == own and not isinstance(statement, ast.Delete):
                    return True
        if isinstance(statement, ast.Expr) and _registered(statement.value) == name:
            return True
    return False
