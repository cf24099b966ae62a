"""Truth values of tensors, kept in the graph as 0-d bool tensors."""

from typing import Any

import torch
from torch._dynamo import variables
from torch._dynamo.variables.builder import wrap_fx_proxy
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, statically_known_true

from graphmend.runtime import branches, fallback, graph_writes
from graphmend.runtime.arguments import NotDeferrable

_COMBINED = {
    branches.either: torch.logical_or,
    branches.both: torch.logical_and,
    branches.negated: torch.logical_not,
}


def call(tx: Any, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What the call of `either`, `both` or `negated` gives while tracing."""
    try:
        fallback.require_allowed(tx, fallback.site_of(tx))
        operands = [operand.realize() for operand in args]
        if kwargs or not any(type(o) is variables.TensorVariable for o in operands):
            return fallback.inline(tx, callee, args, kwargs)
        return _combined(tx, callee.value, operands)
    except NotDeferrable as reason:
        return fallback.in_place(tx, callee, args, kwargs, reason)


def _combined(tx: Any, function: Any, operands: list[Any]) -> Any:
    """The operands combined; those known while tracing fold as they do in Python."""
    decides = function is branches.either
    tensors: list[Any] = []
    for operand in operands:
        if type(operand) is variables.TensorVariable:
            require_one_element(operand)
            tensors.append(operand)
        elif not operand.is_python_constant():
            raise NotDeferrable("an operand is neither a tensor nor known while tracing")
        elif bool(operand.as_python_constant()) is decides:
            return variables.ConstantVariable.create(decides)
    if len({_device(tensor) for tensor in tensors}) > 1:
        raise NotDeferrable("the operands are on different devices")
    truths = [scalar_truth(tx, tensor) for tensor in tensors]
    if function is branches.negated:
        return emitted(tx, "call_function", torch.logical_not, truths[0])
    result = truths[0]
    for truth in truths[1:]:
        result = emitted(tx, "call_function", _COMBINED[function], result, truth)
    return result


def scalar_truth(tx: Any, variable: Any) -> Any:
    """The truth value of a tensor, as a 0-d bool tensor in the graph.

    Raises NotDeferrable for a tensor that is not known to have exactly one element.
    """
    require_one_element(variable)
    fake = variable.as_proxy().node.meta["example_value"]
    result = variable
    if fake.dtype is not torch.bool:  # a NaN is true
        result = emitted(tx, "call_method", "ne", result, 0)
    if fake.dim():
        result = emitted(tx, "call_method", "reshape", result, ())
    return result


def _device(variable: Any) -> torch.device:
    device: torch.device = variable.as_proxy().node.meta["example_value"].device
    return device


def held_truth(tx: Any, variable: Any) -> Any:
    """The same, as it is now: later writes to the tensor leave it alone."""
    result = scalar_truth(tx, variable)
    one, other = (graph_writes.example_of(v.as_proxy().node) for v in (variable, result))
    assert one is not None and other is not None
    if graph_writes.storage_of(one) != graph_writes.storage_of(other):
        return result
    return emitted(tx, "call_method", "clone", result)


def require_one_element(variable: Any) -> None:
    """Raise NotDeferrable unless the tensor has a truth value, whatever its data."""
    fake = graph_writes.example_of(variable.as_proxy().node)
    if type(fake) is not FakeTensor or fake.layout is not torch.strided or fake.is_nested:
        raise NotDeferrable("the predicate is not a plain tensor")
    if free_unbacked_symbols(fake) or not statically_known_true(fake.numel() == 1):
        raise NotDeferrable("the predicate is not known to have exactly one element")


def emitted(tx: Any, operation: str, target: Any, *operands: Any) -> Any:
    """The variable of an operator that is added to the graph."""
    arguments = tuple(
        o.as_proxy() if isinstance(o, variables.base.VariableTracker) else o for o in operands
    )
    return wrap_fx_proxy(tx, tx.output.create_proxy(operation, target, arguments, {}))
