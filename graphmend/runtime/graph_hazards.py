"""Which operators of a traced graph may fail on their data, from `failing_operators.toml`."""

import functools
import importlib.resources
import tomllib
import types
from typing import Any

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, statically_known_true

_OWN_NAMESPACES = ("aten", "prims", "prim")


@functools.cache
def _table() -> dict[str, Any]:
    text = importlib.resources.files("graphmend.runtime").joinpath("failing_operators.toml")
    return tomllib.loads(text.read_text(encoding="utf-8"))


@functools.cache
def _names(*path: str) -> frozenset[str]:
    found: Any = _table()
    for key in path:
        found = found[key]
    return frozenset(found)


def operator_name(node: fx.Node) -> str:
    """The bare name of what `node` calls; "" for anything that is no call."""
    if node.op in ("call_method", "call_module"):
        return str(node.target)
    if node.op != "call_function":
        return ""
    target: Any = node.target
    if isinstance(target, torch._ops.OpOverload):
        return target._schema.name.split("::")[-1]
    return str(getattr(target, "__name__", "") or getattr(target, "name", ""))


def may_fail(node: fx.Node) -> bool:
    """Whether `node` may raise at run time depending on the data of its operands."""
    if node.op not in ("call_function", "call_method", "call_module"):
        return False
    if _is_foreign(node):
        return True
    name = operator_name(node).removeprefix("linalg_")
    if name in _names("always") or _finds_singular_values(node):
        return True
    if name in _names("division", "names") and _divides_integers(node, name):
        return True
    if name in _names("empty") and any(map(_is_empty, node.all_input_nodes)):
        return True
    positions = _table()["index"].get(name)
    if positions is not None:
        operands = [node.args[p] for p in positions if p < len(node.args)]
        operands += list(node.kwargs.values())
        return any(
            not _in_range(index) for operand in operands for index in _integer_nodes(operand)
        )
    return any(may_fail(inner) for graph in subgraphs(node) for inner in graph.nodes)


def _finds_singular_values(node: fx.Node) -> bool:
    """Whether `node` is a norm whose order asks for them; that fails on what is not finite."""
    orders = [*node.args[1:], *node.kwargs.values()]
    spectral = {"norm": ("nuc",), "linalg_norm": ("nuc", 2, -2)}.get(operator_name(node), ())
    return any(order in spectral for order in orders if isinstance(order, int | float | str))


def subgraphs(node: fx.Node) -> list[fx.Graph]:
    """The graphs that a higher-order operator at `node` runs."""
    owner = node.graph.owning_module
    found = []
    for argument in node.all_input_nodes:
        if argument.op == "get_attr" and owner is not None:
            module: Any = owner
            for key in str(argument.target).split("."):
                module = getattr(module, key, None)
            if isinstance(module, fx.GraphModule):
                found.append(module.graph)
    return found


def _is_foreign(node: fx.Node) -> bool:
    """An operator that is not torch's own may fail in any way; so may an opaque module."""
    target: Any = node.target
    if node.op == "call_module":
        return True
    if isinstance(target, torch._ops.HigherOrderOperator):
        return not subgraphs_known(node)
    if isinstance(target, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        schema = getattr(target, "_qualified_op_name", None) or target._schema.name
        return str(schema).split("::")[0] not in _OWN_NAMESPACES
    if isinstance(target, types.FunctionType):  # a function that the user allowed in the graph
        return target.__module__.split(".")[0] != "torch"
    return False


def subgraphs_known(node: fx.Node) -> bool:
    """Whether all that a higher-order operator runs was found."""
    inner = [a for a in node.all_input_nodes if a.op == "get_attr"]
    return bool(inner) and len(subgraphs(node)) == len(inner)


def _is_empty(node: fx.Node) -> bool:
    value = node.meta.get("example_value")
    return isinstance(value, torch.Tensor) and statically_known_true(value.numel() == 0)


def _divides_integers(node: fx.Node, name: str) -> bool:
    value = node.meta.get("example_value")
    if not isinstance(value, torch.Tensor) or not _is_integer(value.dtype):
        return False
    divisors = [node.args[0]] if name.startswith("__r") else list(node.args[1:])
    divisors += list(node.kwargs.values())
    return any(isinstance(d, fx.Node) for d in divisors)


def _integer_nodes(operand: Any) -> list[fx.Node]:
    """The nodes in `operand` (nested in tuples, lists, slices) that hold integer tensors."""
    found: list[fx.Node] = []

    def visit(node: fx.Node) -> fx.Node:
        value = node.meta.get("example_value")
        if isinstance(value, torch.Tensor) and _is_integer(value.dtype):
            found.append(node)
        return node

    fx.node.map_arg(operand, visit)
    return found


def _is_integer(dtype: torch.dtype) -> bool:
    return not dtype.is_floating_point and not dtype.is_complex and dtype is not torch.bool


def _in_range(node: fx.Node) -> bool:
    """Whether the integers of `node` are positions known to be in range."""
    name = operator_name(node)
    if name in _names("safe_index", "positions"):
        return True
    if name in _names("safe_index", "bounded"):
        bounds = [*node.args[1:], *node.kwargs.values()]
        return len([bound for bound in bounds if isinstance(bound, int | float)]) == 2
    if name in _names("safe_index", "made"):
        return all(_is_data_free(operand) for operand in _scalar_nodes(node))
    if name == "getitem" and isinstance(node.args[0], fx.Node):
        if operator_name(node.args[0]) in _names("safe_index", "second"):
            return bool(node.args[1] == 1)
        if operator_name(node.args[0]) in ("where", "nonzero"):
            return True
    if name == "where" and len(node.args) == 1:
        return True
    if name in _names("safe_index", "through"):
        return all(map(_in_range, _value_nodes(node)))
    return _is_data_free(node)


def _is_data_free(node: fx.Node) -> bool:
    """Whether the value of `node` follows from shapes, constants and buffers alone."""
    pending, seen = [node], set()
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        value = node.meta.get("example_value")
        if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
            if free_unbacked_symbols(value):
                return False
        elif node.op == "placeholder":
            if not _is_module_state(node):
                return False
        elif operator_name(node) in _names("random"):
            return False
        elif operator_name(node) not in ("zeros_like", "ones_like", "new_zeros", "new_ones"):
            pending += node.all_input_nodes
    return True


def _scalar_nodes(node: fx.Node) -> list[fx.Node]:
    """The operands of `node` that are numbers, not tensors."""
    return [
        operand
        for operand in node.all_input_nodes
        if not isinstance(operand.meta.get("example_value"), torch.Tensor)
    ]


def _value_nodes(node: fx.Node) -> list[fx.Node]:
    """The operands of `node` whose values its integers come from; masks are none of them."""
    return [
        operand
        for operand in node.all_input_nodes
        if not (
            isinstance(value := operand.meta.get("example_value"), torch.Tensor)
            and value.dtype is torch.bool
        )
    ]


def _is_module_state(node: fx.Node) -> bool:
    """A buffer of a module that the region does not write, such as a table of positions."""
    from torch._dynamo.source import UnspecializedParamBufferSource

    source: Any = getattr(node.meta.get("grapharg"), "source", None)
    value = node.meta.get("example_value")
    while source is not None:
        if isinstance(source, UnspecializedParamBufferSource):
            return isinstance(value, torch.Tensor) and value._version == 0
        source = getattr(source, "base", None)
    return False
