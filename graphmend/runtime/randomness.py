"""Whether operators of a traced graph draw random numbers.

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


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Says, in `is_random`, whether an operator that drew random numbers ran under it."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.is_random = False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        self.is_random |= torch.Tag.nondeterministic_seeded in func.tags
        return func(*args, **(kwargs or {}))


def draws(node: fx.Node, fake_mode: Any) -> bool:
    """Whether the operator at `node` draws random numbers, or may do so."""
    if "generator" in node.kwargs:
        return True
    recorder = Recorder()
    try:
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), _operand)
        with torch.no_grad(), fake_mode, enable_python_dispatcher(), recorder:
            _callable(node)(*args, **kwargs)
    except Exception:
        return True
    return recorder.is_random


def _operand(node: fx.Node) -> Any:
    """The fake value of an operand; writes to it do not count."""
    return graph_writes.map_tensors(node.meta["example_value"], lambda tensor: tensor.data)


def _callable(node: fx.Node) -> Callable[..., Any]:
    if node.op == "call_method":
        name = str(node.target)
        return lambda owner, *args, **kwargs: getattr(owner, name)(*args, **kwargs)
    assert node.op == "call_function" and callable(node.target)
    return node.target
