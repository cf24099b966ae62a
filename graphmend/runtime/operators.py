"""What operators of a traced graph are at bottom: whether they draw random numbers, or only map.

Names do not tell: dropout draws while training only, attention where it has a dropout. So each
operator runs again on its fake operands, and what it dispatches to is looked at.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch._dispatch.python import enable_python_dispatcher
from torch.utils._python_dispatch import TorchDispatchMode

from graphmend.runtime import graph_writes
from graphmend.runtime.graph_hazards import operator_name

_MODE_SETTERS = frozenset(
    ("_set_grad_enabled", "set_grad_enabled", "_enter_autocast", "_exit_autocast")
)


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Takes down the operators that run under it."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operators: set[torch._ops.OpOverload] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        self.operators.add(func)
        return func(*args, **(kwargs or {}))

    @property
    def is_random(self) -> bool:
        """Whether one of them drew random numbers."""
        return any(
            torch.Tag.nondeterministic_seeded in operator.tags for operator in self.operators
        )


def sets_mode(node: fx.Node) -> bool:
    """Whether `node` does nothing but set a mode of torch."""
    return operator_name(node) in _MODE_SETTERS


def draws(node: fx.Node, fake_mode: Any) -> bool:
    """Whether the operator at `node` draws random numbers, or may do so."""
    recorder = _recorded(node, fake_mode)
    return recorder is None or recorder.is_random


def is_pointwise(node: fx.Node, fake_mode: Any) -> bool:
    """Whether `node` maps the elements of its operands, or views them, and does nothing else.

    It gives the same each time, and costs little.
    """
    recorder = _recorded(node, fake_mode)
    return recorder is not None and not recorder.is_random and all(map(_maps, recorder.operators))


def _maps(operator: torch._ops.OpOverload) -> bool:
    if operator._schema.is_mutable:
        return False
    is_conversion = operator is torch.ops.aten._to_copy.default
    is_question = operator.namespace == "prim"  # what device a tensor is on, and the like
    is_map = torch.Tag.pointwise in operator.tags
    return is_map or operator.is_view or is_conversion or is_question


def _recorded(node: fx.Node, fake_mode: Any) -> Recorder | None:
    """What ran at `node`; None where that is not known."""
    if "generator" in node.kwargs:
        return None
    recorder = Recorder()
    try:
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), _operand)
        with torch.no_grad(), fake_mode, enable_python_dispatcher(), recorder:
            _callable(node)(*args, **kwargs)
    except Exception:
        return None
    return recorder


def _operand(node: fx.Node) -> Any:
    """The fake value of an operand; writes to it do not count."""
    return graph_writes.map_tensors(node.meta["example_value"], lambda tensor: tensor.data)


def _callable(node: fx.Node) -> Callable[..., Any]:
    if node.op == "call_method":
        name = str(node.target)
        return lambda owner, *args, **kwargs: getattr(owner, name)(*args, **kwargs)
    assert node.op == "call_function" and callable(node.target)
    return node.target
