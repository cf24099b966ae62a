"""Selections between branches: eagerly, the branches themselves.

TorchDynamo sees calls of these functions as `graphmend.runtime.selection` decides; here is what
they are without it.
"""

import types
from collections.abc import Callable, Iterable
from typing import Any


def select(
    predicate: Any,
    then: Callable[..., Any],
    otherwise: Callable[..., Any],
    /,
    *values: Any,
    caches: Iterable[str] = (),
) -> Any:
    """`then(*values)` if the predicate is true, else `otherwise(*values)`.

    Under `torch.compile`, with a tensor as predicate, both are traced and their results joined by
    `torch.where`, if that cannot be told from taking the branch; else the branch is taken and the
    graph breaks. `caches` names attributes that only the sides themselves read.
    """
    return then(*values) if predicate else otherwise(*values)


def either(*operands: Any) -> Any:
    """The operands joined by `or`, as a truth value; all of them have been evaluated."""
    for operand in operands[:-1]:
        if operand:
            return operand
    return operands[-1]


def both(*operands: Any) -> Any:
    """The operands joined by `and`, as a truth value; all of them have been evaluated."""
    for operand in operands[:-1]:
        if not operand:
            return operand
    return operands[-1]


def negated(operand: Any) -> Any:
    """`not operand`."""
    return not operand


FUNCTIONS = (select, either, both, negated)


def is_selection(value: object) -> bool:
    """Whether `value` is one of the functions of this module."""
    return isinstance(value, types.FunctionType) and value in FUNCTIONS
