"""Which operators of a side may fail at run time for a number in their arguments.

Fake tensors do not look at numbers: `x.clamp(max=1e6)` in half precision fails when it runs.
"""

from typing import Any

import torch
from torch import fx

from graphmend.runtime.graph_hazards import operator_name
from graphmend.runtime.graph_writes import tensors_of

# These compute in a wider type, and round or wrap what does not fit.
_TAKE_ANY = frozenset(
    ("add", "sub", "mul", "truediv", "div", "where", "lt", "le", "gt", "ge", "eq", "ne", "getitem")
)
_POWERS = frozenset(("pow", "pow_", "__pow__", "__ipow__", "float_power"))
_DIVISIONS = frozenset(("floordiv", "floor_divide", "mod", "remainder", "fmod", "div", "divide"))


def fails_for_a_number(node: fx.Node) -> bool:
    """Whether a number among the arguments of `node` may be one that its operator refuses."""
    numbers = _numbers([*node.args, *node.kwargs.values()])
    dtypes = {tensor.dtype for tensor in tensors_of(node)}
    name = operator_name(node)
    if any(not dtype.is_floating_point and not dtype.is_complex for dtype in dtypes):
        if name in _POWERS and any(number < 0 for number in numbers):
            return True
        if name.rstrip("_") in _DIVISIONS and 0 in numbers:
            return True
    if name in _TAKE_ANY:
        return False
    return any(not _holds(dtype, number) for dtype in dtypes for number in numbers)


def _numbers(argument: Any) -> list[int | float]:
    """The numbers in an argument, nested in tuples, lists, slices and dictionaries."""
    found: list[int | float] = []

    def visit(value: Any) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool):
            found.append(value)
        return value

    fx.node.map_aggregate(argument, visit)
    return found


def _holds(dtype: torch.dtype, number: int | float) -> bool:
    """Whether a number can be converted to a dtype."""
    if number != number or number in (float("inf"), -float("inf")) or dtype is torch.bool:
        return True
    real = dtype.to_real() if dtype.is_complex else dtype
    largest = (torch.finfo if real.is_floating_point else torch.iinfo)(real).max
    return abs(number) <= largest
