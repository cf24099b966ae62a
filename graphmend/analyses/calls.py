"""Kinds of call results: builtins, operators, methods, modules, functions of the project."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from graphmend.analyses import selections
from graphmend.analyses.kind import (
    LOGGER,
    MODULE,
    NONE,
    NUMPY,
    SCALAR,
    STATIC,
    TENSOR,
    UNKNOWN,
    Kind,
    Tag,
    container,
    join,
    tuple_of,
)
from graphmend.analyses.operators import (
    OperatorFacts,
    facts,
    likely_on_tensor,
    module_facts,
)
from graphmend.ir.definitions import Value
from graphmend.ir.module import ClassInfo, Function

if TYPE_CHECKING:
    from graphmend.analyses.kinds import Kinds

Again = Callable[[ast.expr], Kind]

_STATIC_BUILTINS = frozenset(
    "isinstance issubclass hasattr callable id type hash dir vars ord chr len range".split()
)
_CONVERSIONS = frozenset("int float bool complex str repr format ascii hex bin oct".split())
_SEQUENCES = frozenset("list tuple set frozenset reversed iter sorted filter".split())
_NOTHING = frozenset("print setattr delattr".split())
_MAKES_TENSOR = frozenset(
    {"torch.Tensor", "torch.nn.Parameter", "torch.nn.Buffer", "torch.nn.parameter.Parameter"}
    | {
        f"torch.{t}Tensor"
        for t in "Float Half BFloat16 Double Long Int Short Byte Bool Char".split()
    }
)
_LOGGER_MAKERS = frozenset({"logging.getLogger", "logging.Logger", "logging.LoggerAdapter"})
_PASS_THROUGH = {"copy.copy": 0, "copy.deepcopy": 0, "typing.cast": 1}
_OUTSIDE = ("builtins.", "torch.", "math.", "numpy.", "logging.", "warnings.")
_STATIC_CALLS = ("os.", "sys.", "time.", "platform.", "inspect.", "importlib.", "packaging.", "re.")
_SIZES = frozenset("size numel nelement __len__ stride nbytes".split())
_TENSOR_LISTS = frozenset("parameters buffers".split())
_MODULE_LISTS = frozenset("children modules".split())


def qualified(kinds: Kinds, node: ast.Call, function: Function | None) -> str | None:
    """The dotted name that the call's function stands for.

    None for locals, and for methods of objects that a module of the project holds.
    """
    if function is None:
        return None
    name = function.module.qualified(node.func, function)
    if name is None or not isinstance(node.func, ast.Attribute) or name.startswith(_OUTSIDE):
        return name
    held = kinds.project.definition(name.rpartition(".")[0], function.module)
    return None if isinstance(held, Value) else name


def arguments(node: ast.Call, params: tuple[str, ...], offset: int = 0) -> dict[str, ast.expr]:
    """The arguments by parameter name; `offset` 1 for methods, whose receiver comes first."""
    given: dict[str, ast.expr] = {}
    for position, argument in enumerate(node.args, start=offset):
        given[params[position] if position < len(params) else f"#{position}"] = argument
    for keyword in node.keywords:
        given[keyword.arg or "**"] = keyword.value
    return given


def operator(
    kinds: Kinds, node: ast.Call, function: Function | None, stmt: ast.stmt | None = None
) -> tuple[OperatorFacts, dict[str, ast.expr]] | None:
    """The operator that a call runs, with its arguments by name (the receiver among them)."""
    name = qualified(kinds, node, function)
    if name is not None:
        found = facts(name) if name.startswith("torch.") else None
        if found is None:
            return None
        given = arguments(node, found.params)
        return found.given(_meant(kinds, given, function, stmt)), given
    if not isinstance(node.func, ast.Attribute):
        return None
    found = facts(node.func.attr)
    if found is None or found.attribute:
        return None
    receiver = kinds.evaluate(node.func.value, function, stmt)
    presumed = receiver.tag is Tag.UNKNOWN and likely_on_tensor(node.func.attr)
    if receiver.tag is not Tag.TENSOR and not presumed:
        return None
    first = found.params[0] if found.params else "self"
    given = {first: node.func.value, **arguments(node, found.params, 1)}
    return found.given(_meant(kinds, given, function, stmt)), given


def _meant(
    kinds: Kinds,
    given: dict[str, ast.expr],
    function: Function | None,
    stmt: ast.stmt | None,
) -> set[str]:
    """The parameters given to a purpose, with their values where these are constants.

    None and False are no purpose; a second tensor for `dim` is not given to that parameter.
    """
    meant = set()
    for name, value in given.items():
        if isinstance(value, ast.Constant) and (value.value is None or value.value is False):
            continue
        if isinstance(value, ast.Constant) and isinstance(value.value, str | int | float):
            meant.add(f"{name}={value.value}")
        if name == "dim" and kinds.evaluate(value, function, stmt).tag is Tag.TENSOR:
            name = "other"
        meant.add(name)
    return meant


def call(
    kinds: Kinds, node: ast.Call, function: Function | None, stmt: ast.stmt | None, again: Again
) -> Kind:
    """The kind of a call's result."""
    name = qualified(kinds, node, function)
    if name == selections.SELECT and function is not None:
        return selections.result(kinds, node, function, again)
    if name is not None:
        known = _named(name, node, again)
        if known is not None:
            return known
    ran = operator(kinds, node, function, stmt)
    if ran is not None:
        return result_of(ran[0], ran[1], again)
    if function is not None:
        reached = kinds.project.callees(node, function)
        if reached.functions and reached.complete:
            return _returned(kinds, reached.functions)
    if name is not None and name.startswith("torch.nn."):
        return _layer(name, node, again)
    if isinstance(node.func, ast.Attribute) and name is None:
        return _method(kinds, node, node.func, again)
    return _instance_call(again(node.func)) if name is None else UNKNOWN


def _returned(kinds: Kinds, functions: tuple[Function | ClassInfo, ...]) -> Kind:
    """What one of the functions returns; wrappers that only hand on count for nothing."""
    results = [
        kinds.returns(f) if isinstance(f, Function) else _instance(kinds, f) for f in functions
    ]
    return join(kind for kind in results if kind.tag is not Tag.UNKNOWN or len(results) == 1)


def _instance(kinds: Kinds, info: ClassInfo) -> Kind:
    if kinds.project.class_is_module(info):
        return replace(MODULE, name=info.qualified)
    adapter = any("LoggerAdapter" in ast.unparse(base) for base in info.bases)
    return LOGGER if adapter else UNKNOWN


def _instance_call(callee: Kind) -> Kind:
    """Calling a module of torch.nn runs its forward; others were resolved before."""
    if callee.tag is Tag.MODULE and callee.name is not None:
        layer = module_facts(callee.name)
        if layer is not None:
            return {"tensor": TENSOR, "tuple": container(TENSOR)}.get(layer.returns, UNKNOWN)
    return UNKNOWN


def _named(name: str, node: ast.Call, again: Again) -> Kind | None:
    """Results of functions outside torch that are known by name."""
    if name.startswith("builtins."):
        return _builtin(name.removeprefix("builtins."), node, again)
    if name in _MAKES_TENSOR:
        return TENSOR
    if name in _LOGGER_MAKERS:
        return LOGGER
    if name in _PASS_THROUGH:
        position = _PASS_THROUGH[name]
        return again(node.args[position]) if len(node.args) > position else UNKNOWN
    if name.startswith("math."):
        return _from_parts(node, again)
    if name.startswith("numpy."):
        return NUMPY
    if name == "warnings.warn":
        return NONE
    return STATIC if name.startswith(_STATIC_CALLS) else None


def _from_parts(node: ast.Call, again: Again) -> Kind:
    """A Python value worked out from the arguments: data if one of them is."""
    parts = [again(a) for a in [*node.args, *(k.value for k in node.keywords)]]
    if any(part.reads_data for part in parts):
        return SCALAR
    return STATIC if all(part.folds for part in parts) else UNKNOWN


def _builtin(name: str, node: ast.Call, again: Again) -> Kind:
    parts = [again(argument) for argument in node.args]
    first = parts[0] if parts else STATIC
    if name in ("len", "range"):
        sized = name == "len" and not first.data_shape and first.tag is not Tag.SCALAR
        read = not sized and any(p.reads_data for p in parts)
        return SCALAR if read and name == "len" else container(SCALAR) if read else STATIC
    if name in _STATIC_BUILTINS:
        return STATIC
    if name in _NOTHING:
        return NONE
    if name in _CONVERSIONS:
        return _from_parts(node, again)
    if name in ("any", "all"):
        each = first.of_element()
        return SCALAR if each.reads_data else STATIC if each.folds else UNKNOWN
    if name in ("abs", "round", "divmod", "pow"):
        return first if first.reads_data else _from_parts(node, again)
    if name in ("max", "min"):
        return join(parts) if len(parts) > 1 else first.of_element()
    if name == "sum":
        return first.of_element()
    if name in _SEQUENCES:
        return STATIC if first.tag is Tag.STATIC and parts else container(_held(first, parts))
    if name == "enumerate":
        return container(tuple_of([STATIC, first.of_element()]))
    if name == "zip":
        return container(tuple_of(part.of_element() for part in parts))
    if name == "next":
        return first.of_element()
    if name == "dict":
        return container(
            join([*(again(k.value) for k in node.keywords), *(p.of_element() for p in parts)])
        )
    return UNKNOWN


def _held(first: Kind, parts: list[Kind]) -> Kind:
    return first.of_element() if parts else join([])


def result_of(found: OperatorFacts, given: dict[str, ast.expr], again: Again) -> Kind:
    """The kind of an operator's result."""
    kinds = {name: again(value) for name, value in given.items()}
    tensors = [kind for kind in kinds.values() if kind.tag is Tag.TENSOR]
    from_data = any(t.data_shape for t in tensors)
    if found.returns == "static":
        return SCALAR if from_data and found.name.rpartition(".")[2] in _SIZES else STATIC
    if found.returns in ("scalar", "numpy", "none"):
        return {"scalar": SCALAR, "numpy": NUMPY, "none": NONE}[found.returns]
    if found.returns == "unknown":
        return UNKNOWN
    whole = not {"dim", "axis", "keepdim"} & kinds.keys() and len(kinds) <= 2 and found.zero_dim
    plain = len(tensors) == len([k for k in kinds.values() if not k.folds])
    single = (
        whole or found.pointwise and bool(tensors) and plain and all(t.zero_dim for t in tensors)
    )
    sized = found.dynamic_shape and not _fixed(found, kinds)
    tensor = replace(
        TENSOR,
        zero_dim=single,
        bool_dtype=found.bool_result,
        data_shape=not single and (sized or from_data),
    )
    if found.returns == "tuple":
        if found.fields:
            return tuple_of([tensor] * len(found.fields), found.fields)
        return container(tensor)
    return tensor


def grows(
    kinds: Kinds,
    found: OperatorFacts,
    given: dict[str, ast.expr],
    function: Function | None,
    stmt: ast.stmt | None,
) -> bool:
    """Whether the operator, called so, gives a result whose sizes depend on data."""
    known = {name: kinds.evaluate(value, function, stmt) for name, value in given.items()}
    return found.dynamic_shape and not _fixed(found, known)


def _fixed(found: OperatorFacts, kinds: dict[str, Kind]) -> bool:
    """Repeats that are a Python number give a length known while tracing."""
    repeats = kinds.get("repeats")
    return found.name.endswith("repeat_interleave") and repeats is not None and repeats.folds


def _method(kinds: Kinds, node: ast.Call, func: ast.Attribute, again: Again) -> Kind:
    receiver, name = again(func.value), func.attr
    if receiver.tag is Tag.CONTAINER:
        return _container_method(receiver, name)
    if receiver.tag in (Tag.STATIC, Tag.SCALAR):
        arguments = _from_parts(node, again)
        return (
            SCALAR if receiver.tag is Tag.SCALAR else arguments if arguments.reads_data else STATIC
        )
    if receiver.tag is Tag.NUMPY:
        return NUMPY
    if receiver.tag is Tag.LOGGER:
        return STATIC if name.startswith(("is", "get")) else NONE
    if receiver.tag is Tag.MODULE and name in _TENSOR_LISTS:
        return container(TENSOR)
    if receiver.tag is Tag.MODULE and name in _MODULE_LISTS:
        return container(MODULE)
    if receiver.tag is Tag.MODULE and name.startswith("named_"):
        each = TENSOR if name.removeprefix("named_") in _TENSOR_LISTS else MODULE
        return container(tuple_of([STATIC, each]))
    return _instance_call(again(func))


def _container_method(receiver: Kind, name: str) -> Kind:
    each = receiver.of_element()
    if name in ("get", "pop", "setdefault", "popleft"):
        return each
    if name in ("items", "popitem"):
        pair = tuple_of([STATIC, each])
        return container(pair) if name == "items" else pair
    if name in ("values", "copy"):
        return container(each)
    if name == "keys":
        return container(STATIC)
    if name in ("index", "count"):
        return SCALAR if each.reads_data else STATIC
    return NONE


def reads(kinds: Kinds, node: ast.Call, function: Function | None, stmt: ast.stmt | None) -> bool:
    """Whether the call itself takes tensor data into Python."""
    ran = operator(kinds, node, function, stmt)
    if ran is not None:
        return ran[0].reads_scalar
    name = qualified(kinds, node, function) or ""
    parts = [kinds.evaluate(argument, function, stmt) for argument in node.args]
    if name.startswith("math."):
        return any(part.tag in (Tag.TENSOR, Tag.MIXED) for part in parts)
    last = name.removeprefix("builtins.")
    if not name.startswith("builtins.") or not parts:
        return False
    if last in _CONVERSIONS | {"range"}:
        return any(part.tag in (Tag.TENSOR, Tag.MIXED) for part in parts)
    if last in ("any", "all", "sorted", "max", "min"):
        held = [part.of_element() if len(parts) == 1 else part for part in parts]
        return any(part.tag in (Tag.TENSOR, Tag.MIXED) for part in held)
    return False


def made(name: str, node: ast.Call, again: Again) -> Kind:
    """What a call of a function outside the project gives, known by its name alone."""
    known = _named(name, node, again)
    if known is not None:
        return known
    found = facts(name)
    if found is not None:
        return result_of(found, arguments(node, found.params), again)
    return _layer(name, node, again)


def _layer(name: str, node: ast.Call, again: Again) -> Kind:
    """A new layer of torch.nn; lists and dicts of layers are containers."""
    if name.rpartition(".")[2] in ("ModuleList", "ModuleDict", "ParameterList"):
        held = again(node.args[0]).of_element() if node.args else UNKNOWN
        return container(TENSOR if name.endswith("ParameterList") else held)
    return replace(MODULE, name=name) if module_facts(name) is not None else UNKNOWN
