"""Kinds of parameters, by annotation, use, call sites and default; what is added to containers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from graphmend.analyses import algebra, members, selections
from graphmend.analyses.annotations import annotated
from graphmend.analyses.kind import (
    BOTTOM,
    MODULE,
    PRESUMED,
    STATIC,
    UNKNOWN,
    Kind,
    Tag,
    container,
    join,
)
from graphmend.analyses.operators import facts, module_facts, only_arrays_have
from graphmend.ir.module import Function
from graphmend.ir.symbols import receiver

if TYPE_CHECKING:
    from graphmend.analyses.kinds import Kinds
    from graphmend.analyses.resolution import CallSite

_CONFIGURATIONS = frozenset({"config", "cfg", "configuration"})
ADDERS = {"append": 0, "extend": 0, "insert": 1, "add": 0, "appendleft": 0, "update": 0}
_MAX_SITES = 40
_MAX_FILES = 300  # of a project that is searched for the callers of a plain function


def parameter(kinds: Kinds, name: str, function: Function) -> Kind:
    """The kind of a parameter."""
    work = lambda: _parameter(kinds, name, function)  # noqa: E731
    return kinds.compute(("parameter", function, name), work)


def _parameter(kinds: Kinds, name: str, function: Function) -> Kind:
    arguments = function.node.args
    if function.owner is not None and receiver(function) == name:
        is_module = kinds.project.class_is_module(function.owner)
        return replace(MODULE, name=function.owner.qualified) if is_module else UNKNOWN
    for starred in (arguments.vararg, arguments.kwarg):
        if starred is not None and starred.arg == name:
            return container(annotated(starred.annotation, function.module, function))
    handed = selections.given(kinds, name, function)
    if handed is not None:
        return handed
    promised = annotated(_annotation(function, name), function.module, function)
    if promised.tag not in (Tag.UNKNOWN, Tag.STATIC):
        return promised
    default = default_of(function, name)
    if promised.tag is Tag.STATIC and not promised.none:
        # A flag that callers read from a tensor is data, whatever its annotation says.
        passed = _passed(kinds, name, function)
        return passed if passed.reads_data else STATIC
    if used_as_tensor(kinds, name, function):
        return replace(PRESUMED, optional=_is_none(default))
    passed = _passed(kinds, name, function)
    if passed.tag not in (Tag.UNKNOWN, Tag.BOTTOM):
        return passed
    if name in _CONFIGURATIONS or _is_setting(default, function):
        return STATIC
    return UNKNOWN


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_setting(default: ast.expr | None, function: Function) -> bool:
    """Flags and texts, and whatever number a constructor takes."""
    if not isinstance(default, ast.Constant) or default.value is None:
        return False
    return isinstance(default.value, bool | str) or function.name == "__init__"


def _annotation(function: Function, name: str) -> ast.expr | None:
    arguments = function.node.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        if argument.arg == name:
            return argument.annotation
    return None


def default_of(function: Function, name: str) -> ast.expr | None:
    """The default of a parameter, if it has one."""
    arguments = function.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults += arguments.defaults
    pairs = [*zip(positional, defaults, strict=True)]
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return next((default for argument, default in pairs if argument.arg == name), None)


# -- call sites ----------------------------------------------------------------------------


def _passed(kinds: Kinds, name: str, function: Function) -> Kind:
    """The join over the known calls; BOTTOM where there is none."""
    found: list[Kind] = []
    for site in _calls(kinds, function):
        argument = passed_to(site.call, name, function) if isinstance(site.call, ast.Call) else None
        if argument is not None:
            found.append(kinds.evaluate(argument, site.function))
        else:
            default = default_of(function, name)
            found.append(UNKNOWN if default is None else kinds.evaluate(default, function.outer))
    return join(found)


def _calls(kinds: Kinds, function: Function) -> Sequence[CallSite]:
    """The calls to look at: those of the same module, of plain functions else the project's."""
    found = kinds.project.local_calls(function)
    plain = function.owner is None and function.outer is None
    if not found and plain and len(kinds.project.files or ()) in range(1, _MAX_FILES):
        elsewhere = kinds.project.callers(function)
        found = elsewhere if isinstance(elsewhere, Sequence) else ()
    inside = [s for s in found if s.function is not None and isinstance(s.call, ast.Call)]
    return inside[:_MAX_SITES]


def passed_to(call: ast.Call, name: str, function: Function) -> ast.expr | None:
    """The argument of a call that becomes the parameter `name`; None for none or unclear."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    arguments = function.node.args
    positional = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
    if positional and receiver(function) == positional[0]:
        positional = positional[1:]
    if name not in positional:
        return None
    position = positional.index(name)
    if any(isinstance(a, ast.Starred) for a in call.args[: position + 1]):
        return None
    return call.args[position] if position < len(call.args) else None


# -- use as a tensor -----------------------------------------------------------------------


def used_as_tensor(kinds: Kinds, name: str, function: Function) -> bool:
    """Whether the function somewhere uses the name as only a tensor can be used."""
    if function not in kinds.evidence:
        kinds.evidence[function] = frozenset()  # the evidence may ask for itself
        kinds.evidence[function] = frozenset(_evidence(kinds, function))
    return name in kinds.evidence[function]


def _evidence(kinds: Kinds, function: Function) -> Iterator[str]:
    for node in kinds.nodes(function):
        match node:
            case ast.Call():
                for operand in _tensor_operands(kinds, node, function):
                    yield from _presumed(operand)
            case ast.BinOp(op=ast.MatMult()):
                yield from _presumed(node.left)
                yield from _presumed(node.right)
            case ast.Subscript(value=value, slice=index) if algebra.slices_dimensions(index):
                yield from _presumed(value)


def _tensor_operands(kinds: Kinds, node: ast.Call, function: Function) -> Iterator[ast.expr]:
    """The expressions that must be tensors for the call to make sense."""
    name = function.module.qualified(node.func, function)
    if name is None and isinstance(node.func, ast.Attribute):
        if only_arrays_have(node.func.attr):
            yield node.func.value
    if name is not None and name.startswith("torch."):
        known = facts(name)
        if known is not None and known.returns != "static":
            for position in known.tensors:
                yield from _at(node, position, known.params)
    elif node.args and _is_layer(kinds, node.func, function):
        yield node.args[0]


def _at(node: ast.Call, position: int, params: tuple[str, ...]) -> Iterator[ast.expr]:
    if position < len(node.args):
        yield node.args[position]
    elif position < len(params):
        yield from (k.value for k in node.keywords if k.arg == params[position])


def _is_layer(kinds: Kinds, callee: ast.expr, function: Function) -> bool:
    """Whether the callee is `self.x` that holds a layer of torch.nn."""
    if not isinstance(callee, ast.Attribute):
        return False
    owner = members.instance_of(kinds, callee.value, function)
    if owner is None:
        return False
    layer = members.member(kinds, owner, callee.attr).name
    return layer is not None and module_facts(layer) is not None


def _presumed(operand: ast.expr) -> Iterator[str]:
    """The name that is a tensor where `operand` is one."""
    match operand:
        case ast.Name():
            yield operand.id
        case ast.UnaryOp(operand=inner):
            yield from _presumed(inner)
        case ast.Compare(left=inner, comparators=[other]) | ast.BinOp(left=inner, right=other):
            if _plain(other):
                yield from _presumed(inner)
            elif _plain(inner):
                yield from _presumed(other)


def _plain(node: ast.expr) -> bool:
    """A number, or an attribute that most likely holds one."""
    return isinstance(node, ast.Constant | ast.Attribute)


# -- containers ----------------------------------------------------------------------------


def with_added(kinds: Kinds, name: str, function: Function, kind: Kind) -> Kind:
    """A container's kind with what the function puts into it, wherever that happens."""
    if kind.tag is not Tag.CONTAINER:
        return kind
    added = kinds.local(("added", name), function, lambda: join(_added(kinds, name, function)))
    if added.tag is Tag.BOTTOM:
        return kind
    return replace(kind, element=join([kind.element or BOTTOM, added]), items=None)


def _added(kinds: Kinds, name: str, function: Function) -> Iterator[Kind]:
    for value, spread in additions(kinds, function).get(name, ()):
        put = kinds.evaluate(value, function)
        yield put.of_element() if spread else put


def additions(kinds: Kinds, function: Function) -> dict[str, list[tuple[ast.expr, bool]]]:
    """What the function puts into the containers it names; True: the elements of the value."""
    if function not in kinds.additions:
        found: dict[str, list[tuple[ast.expr, bool]]] = {}
        for node in kinds.nodes(function):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr=adder), args=[*args]
                ):
                    position = ADDERS.get(adder)
                    if position is not None and position < len(args):
                        spread = adder in ("extend", "update")
                        found.setdefault(name, []).append((args[position], spread))
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))], value=value):
                    found.setdefault(name, []).append((value, False))
        kinds.additions[function] = found
    return kinds.additions[function]
