"""Gradients through a selection: the side that was not taken must contribute nothing at all.

The backward of `torch.where` gives it zeros. Two things may become of them: a local derivative that
is infinite or NaN makes them NaN, and where the program would have no gradient there are zeros.
So gates in front of a side keep them from what lies before it.
"""

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import fx
from torch._dynamo.variables.builder import wrap_fx_proxy

from graphmend.runtime import graph_writes
from graphmend.runtime.arguments import NotDeferrable
from graphmend.runtime.graph_hazards import operator_name
from graphmend.runtime.graph_writes import requires_grad
from graphmend.runtime.join import Joined
from graphmend.runtime.recompute import Recomputation
from graphmend.runtime.sides import Side

# Operators whose backward makes zeros of zeros, whatever their operands hold.
_KEEP_ZEROS = frozenset(
    ("add", "__add__", "__radd__", "sub", "__sub__", "__rsub__", "rsub", "neg", "__neg__", "relu")
    + ("clamp", "clamp_min", "clamp_max", "clip", "where", "masked_fill", "nan_to_num", "detach")
    + ("minimum", "maximum", "clone", "contiguous", "to", "float", "half", "bfloat16", "double")
    + ("type", "type_as", "view", "view_as", "reshape", "reshape_as", "flatten", "unflatten")
    + ("expand", "expand_as", "broadcast_to", "unsqueeze", "squeeze", "transpose", "t", "permute")
    + ("movedim", "swapaxes", "getitem", "__getitem__", "select", "narrow", "chunk", "split")
    + ("unbind", "cat", "concat", "stack", "hstack", "vstack", "flip", "roll", "repeat", "tile")
    + ("sum", "mean", "diagonal", "tril", "triu", "pad", "zeros_like", "ones_like", "cpu", "cuda")
)
_SCALING = frozenset(("mul", "__mul__", "__rmul__", "multiply"))
_DIVIDING = frozenset(("div", "truediv", "__truediv__", "divide"))


@dataclasses.dataclass(frozen=True)
class Gated:
    """What later operators must leave alone for the gradients to stay those of the branch."""

    read: frozenset[int] = frozenset()
    """The storages that the backward of one side alone may read.

    Writing them later is an error to autograd if that side was taken.
    """
    recomputed: frozenset[fx.Node] = frozenset()
    """What a side computes again: no gradient may flow to the nodes themselves."""


def neutralise(
    tx: Any, condition: Any, then: Side, otherwise: Side, joined: Iterable[Joined]
) -> Gated:
    """Keep the gradients those of the branch. Raises NotDeferrable where that is not possible."""
    pairs = [pair for pair in joined if requires_grad(pair.result)]
    if not pairs:
        return Gated()
    if tx.output.side_effects.tensor_hooks or torch.is_anomaly_enabled():
        raise NotDeferrable("gradients are watched by hooks or anomaly detection")
    reached = [_reached(pair.then) for pair in pairs], [_reached(pair.otherwise) for pair in pairs]
    uneven = set().union(*(one ^ other for one, other in zip(*reached, strict=True)))
    _require_same_inputs(uneven)
    _require_not_written(uneven)
    read = frozenset(_touched(uneven))
    inside = [*then.nodes, *otherwise.nodes]
    earlier = uneven.difference(inside)
    recomputation = (
        None
        if all(map(_keeps_zeros, earlier))
        else Recomputation(tx, uneven, inside, [pair.result for pair in pairs])
    )
    recomputed: set[fx.Node] = set()
    for side, mine, theirs in ((then, *reached), (otherwise, *reached[::-1])):
        passed, elsewhere = set().union(*mine), set().union(*theirs)
        nodes = [node for node in side.nodes if node in passed]
        alone = earlier & passed
        gated = [] if all(map(_keeps_zeros, nodes)) else nodes
        inner = set(side.nodes)
        if recomputation is not None and not all(map(_keeps_zeros, alone)):
            if alone & elsewhere:
                raise NotDeferrable("both sides use a tensor whose gradient may become NaN")
            copies = recomputation.on_side(alone, side.nodes)
            recomputed |= alone
            gated = copies + gated
            inner.update(copies)
        gates = _Gates(tx, condition, side is then)
        for node in gated:
            gates.put_before(node, inner)
    return Gated(read, frozenset(recomputed))


def _touched(nodes: set[fx.Node]) -> set[int]:
    """The storages of the results and operands of `nodes`."""
    involved = nodes.union(*(node.all_input_nodes for node in nodes))
    return {graph_writes.storage_of(t) for n in involved for t in graph_writes.tensors_of(n)}


def _reached(result: fx.Node) -> set[fx.Node]:
    """The nodes that a gradient of `result` flows back to."""
    found: set[fx.Node] = set()
    pending = [result]
    while pending:
        node = pending.pop()
        if node not in found and requires_grad(node):
            found.add(node)
            pending += node.all_input_nodes
    return found


def _require_same_inputs(uneven: set[fx.Node]) -> None:
    if any(node.op in ("placeholder", "get_attr") for node in uneven):
        raise NotDeferrable("gradients of the sides flow to different tensors")


def _require_not_written(nodes: Iterable[fx.Node]) -> None:
    """Writes in place are edges that the graph does not show."""
    for node in nodes:
        for tensor in graph_writes.tensors_of(node):
            if tensor.is_inference() or tensor._version > 0:
                raise NotDeferrable("a tensor that carries gradients is written in place")


def _keeps_zeros(node: fx.Node) -> bool:
    name = operator_name(node)
    if name in _SCALING or name in _DIVIDING:
        factors = node.args[1:] if name in _DIVIDING else node.args
        numbers = [a for a in factors if isinstance(a, int | float)]
        is_plain = len(node.args) == 2 and not node.kwargs and len(numbers) == 1
        return is_plain and math.isfinite(numbers[0]) and (name in _SCALING or numbers[0] != 0)
    return name in _KEEP_ZEROS


class _Gates:
    """Operators in front of a side that give back their operand, and zeros when it is not taken."""

    def __init__(self, tx: Any, condition: Any, wanted: bool) -> None:
        self._tx = tx
        self._condition = condition.as_proxy()
        self._wanted = wanted

    def put_before(self, node: fx.Node, inner: set[fx.Node]) -> None:
        """Let `node` read through gates what comes from outside of `inner`.

        Each operand has a gate of its own, those of later operands first: so the gradients of a
        tensor are added up in the order of the branch, and round the same.
        """
        read: list[fx.Node] = []

        def visit(operand: fx.Node) -> fx.Node:
            if operand not in inner and requires_grad(operand):
                read.append(operand)
            return operand

        fx.node.map_arg((node.args, node.kwargs), visit)
        gates = [self._gate(operand, node) for operand in reversed(read)]

        def replace(operand: fx.Node) -> fx.Node:
            return gates.pop() if operand not in inner and requires_grad(operand) else operand

        node.args, node.kwargs = fx.node.map_arg((node.args, node.kwargs), replace)

    def _gate(self, operand: fx.Node, before: fx.Node) -> fx.Node:
        value = graph_writes.example_of(operand)
        if value is None or value.layout is not torch.strided:
            raise NotDeferrable("gradients enter a side other than by a plain tensor")
        output = self._tx.output
        with output.graph.inserting_before(before):
            proxy = fx.Proxy(operand, output.current_tracer)
            detached = self._put("call_method", "detach", proxy)
            choices = (proxy, detached) if self._wanted else (detached, proxy)
            gate = self._put("call_function", torch.where, self._condition, *choices)
        held = graph_writes.example_of(gate.node)
        assert held is not None
        if held.stride() != value.stride() or held.dtype != value.dtype:
            raise NotDeferrable("gradients enter a side by a tensor that is not dense")
        made: fx.Node = gate.node
        return made

    def _put(self, operation: str, target: Any, *operands: Any) -> Any:
        proxy = self._tx.output.create_proxy(operation, target, operands, {})
        return wrap_fx_proxy(self._tx, proxy).as_proxy()
