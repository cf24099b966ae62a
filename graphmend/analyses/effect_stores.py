"""Effects of statements: what they bind, store to, enter and raise."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphmend.analyses.effect_set import MAY_RAISE, NOTHING, SHAPE, EffectSet, Write, union
from graphmend.analyses.kind import Tag
from graphmend.analyses.roots import Owner, Root
from graphmend.ir.module import ClassInfo, Function

if TYPE_CHECKING:
    from graphmend.analyses.effects import Effects

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_RAISES = EffectSet(raises=True)
# Context managers outside the project that do nothing to the values in their block.
_HARMLESS = ("torch.", "contextlib.", "warnings.", "logging.", "numpy.")


def stores(effects: Effects, stmt: ast.stmt, function: Function) -> EffectSet:
    """What a statement does besides evaluating its expressions."""
    match stmt:
        case ast.Assign(targets=targets):
            return union(_store(effects, target, function) for target in targets)
        case ast.AnnAssign(target=target, value=value):
            return _store(effects, target, function) if value is not None else NOTHING
        case ast.AugAssign():
            return _augmented(effects, stmt, function)
        case ast.For(target=target) | ast.AsyncFor(target=target):
            return _store(effects, target, function)
        case ast.Delete(targets=targets):
            return union(_store(effects, target, function) for target in targets) | MAY_RAISE
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return union(_entered(effects, item, function) for item in items)
        case ast.Raise():
            return _RAISES
        case ast.Assert(test=test):
            fails = effects.kinds.truth_reads_data(test, function)
            return _RAISES | EffectSet(reads_data=fails)
        case ast.If(test=test) | ast.While(test=test):
            return EffectSet(reads_data=effects.kinds.truth_reads_data(test, function))
        case ast.Import() | ast.ImportFrom():
            return MAY_RAISE
    return NOTHING


def _store(effects: Effects, target: ast.expr, function: Function) -> EffectSet:
    match target:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return union(_store(effects, part, function) for part in parts) | MAY_RAISE
        case ast.Starred(value=value):
            return _store(effects, value, function)
        case ast.Name(id=name):
            return _rebound(name, function)
        case ast.Attribute(value=value):
            return _attribute_store(effects, target, value, function)
        case ast.Subscript(value=value, slice=index):
            return _item_store(effects, value, index, function)
    return NOTHING


def _rebound(name: str, function: Function) -> EffectSet:
    """Binding a local is no effect; binding a global or a closure's variable is one."""
    if function.is_local(name):
        return NOTHING
    owner = Owner.GLOBAL if name in function.scope.globals else Owner.CLOSURE
    return EffectSet(frozenset({Write(Root(owner, name), tensor=False)}))


def _attribute_store(
    effects: Effects, target: ast.Attribute, value: ast.expr, function: Function
) -> EffectSet:
    base = effects.roots.of(value, function, held=False)
    if base and all(not root.outside for root in base):
        return EffectSet(frozenset(Write(root, tensor=False) for root in base))
    root = Root(Owner.ATTRIBUTE, ast.unparse(target))
    return EffectSet(frozenset({Write(root, tensor=False)}))


def _item_store(
    effects: Effects, value: ast.expr, index: ast.expr, function: Function
) -> EffectSet:
    base = effects.kinds.of(value, function)
    tensor = base.tag in (Tag.TENSOR, Tag.NUMPY)
    found = effects.written(value, function, None, tensor=tensor)
    return found | effects.index(base, effects.kinds.of(index, function), index) | SHAPE


def _augmented(effects: Effects, stmt: ast.AugAssign, function: Function) -> EffectSet:
    """`x += 1` writes a tensor or a list in place, and rebinds what else there is."""
    target = stmt.target
    operands = effects.operator(
        stmt.op, effects.kinds.of(_loaded(target), function, stmt), stmt.value, function, None
    )
    if isinstance(target, ast.Subscript):
        return operands | _item_store(effects, target.value, target.slice, function)
    kind = effects.kinds.of(_loaded(target), function, stmt)
    found = operands | _store(effects, target, function)
    if kind.tag in (Tag.STATIC, Tag.SCALAR):
        return found
    in_place = effects.written(
        _loaded(target), function, stmt, tensor=kind.tag is not Tag.CONTAINER
    )
    return found | in_place


def _entered(effects: Effects, item: ast.withitem, function: Function) -> EffectSet:
    """Entering and leaving a context manager runs its methods."""
    named = item.optional_vars
    bound = _store(effects, named, function) if named is not None else NOTHING
    manager = item.context_expr
    called = manager.func if isinstance(manager, ast.Call) else manager
    name = function.module.qualified(called, function) or ""
    if name.startswith(_HARMLESS):
        return bound
    made = effects.project.callee(manager, function) if isinstance(manager, ast.Call) else None
    if isinstance(made, ClassInfo):
        methods = (_method(effects, made, method) for method in ("__enter__", "__exit__"))
        return bound | union(methods)
    return bound | EffectSet(unknown=frozenset({ast.unparse(called)}), may_raise=True)


def _method(effects: Effects, info: ClassInfo, name: str) -> EffectSet:
    for base in effects.project.hierarchy.ancestors(info):
        if name in base.methods:
            return effects.of_function(base.methods[name])
    return EffectSet(unknown=frozenset({f"{info.name}.{name}"}), may_raise=True)


def _loaded(target: ast.expr) -> ast.expr:
    """The target as an expression that reads it."""
    match target:
        case ast.Name(id=name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Attribute(value=value, attr=attr):
            return ast.copy_location(ast.Attribute(value, attr, ast.Load()), target)
    return target


def header(stmt: ast.stmt) -> Iterator[ast.expr]:
    """The expressions that a statement itself evaluates, without those of nested blocks."""
    if isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from stmt.decorator_list
        return
    for name, value in ast.iter_fields(stmt):
        if name in _BLOCKS or name in ("annotation", "type_comment"):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.withitem):
                yield part.context_expr
            elif isinstance(part, ast.expr):
                yield from _parts_of_target(part) if _is_target(part) else [part]


def _is_target(node: ast.expr) -> bool:
    return not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _parts_of_target(node: ast.expr) -> Iterator[ast.expr]:
    """What is evaluated to find the place that is stored to."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _parts_of_target(part)
        case ast.Starred(value=value):
            yield from _parts_of_target(value)
        case ast.Attribute(value=value):
            yield value
        case ast.Subscript(value=value, slice=index):
            yield value
            yield index
