"""Writes of a side to tensors from outside: undone at its end, in the graph, if not taken.

What is written is copied before its first write. The copies are put back in reverse order, so that
views of one tensor may overlap.
"""

from typing import Any

import torch
from torch import fx

from graphmend.runtime import graph_writes, truth
from graphmend.runtime.arguments import NotDeferrable
from graphmend.runtime.graph_writes import storage_of


def undo_writes(
    tx: Any,
    condition: Any,
    wanted: bool,
    nodes: list[fx.Node],
    written: set[int],
    before: graph_writes.Versions,
) -> None:
    """Undo the writes of `nodes` to the storages `written`, unless `condition` is `wanted`.

    Raises NotDeferrable where it is not known what exactly they write, or where the write itself
    shows.
    """
    _require_no_gradients(tx.output.graph, written)
    first: dict[fx.Node, fx.Node] = {}
    counts = dict.fromkeys(written, 0)
    for node in nodes:
        for operand in graph_writes.destinations(node):
            storage = storage_of(_plain(operand))
            if storage in counts:
                counts[storage] += 1
                first.setdefault(operand, node)
    _require_all_known(tx.output.graph, counts, before)
    copies = [(operand, _copy_before(tx, operand, node)) for operand, node in first.items()]
    for operand, copy in reversed(copies):
        current = fx.Proxy(operand, tx.output.current_tracer)
        choices = (current, copy) if wanted else (copy, current)
        kept = truth.emitted(tx, "call_function", torch.where, condition, *choices)
        truth.emitted(tx, "call_method", "copy_", current, kept)


def _require_no_gradients(graph: fx.Graph, written: set[int]) -> None:
    for node in graph.nodes:
        tensors = graph_writes.tensors_of(node)
        is_input = node.op in ("placeholder", "get_attr")
        # Under no_grad, what is written may be a leaf that requires grad, such as a parameter.
        if is_input or all(tensor.grad_fn is None for tensor in tensors):
            continue
        involved = [t for n in (node, *node.all_input_nodes) for t in graph_writes.tensors_of(n)]
        if torch.is_grad_enabled() or any(storage_of(t) in written for t in involved):
            raise NotDeferrable("a side writes a tensor in place beside gradients")


def _plain(operand: fx.Node) -> torch.Tensor:
    """The fake tensor of `operand`, if each of its elements has a place of its own."""
    value = graph_writes.example_of(operand)
    if value is None or value.layout is not torch.strided or value.is_inference():
        raise NotDeferrable("a side writes something else than a plain tensor")
    extent = 1
    for stride, size in sorted(zip(value.stride(), value.shape, strict=True)):
        if not isinstance(size, int) or not isinstance(stride, int):
            raise NotDeferrable("a side writes a tensor of a size that varies")
        if size > 1 and stride < extent:
            raise NotDeferrable("a side writes a tensor whose elements overlap")
        extent += (size - 1) * stride
    return value


def _require_all_known(
    graph: fx.Graph, counts: dict[int, int], before: graph_writes.Versions
) -> None:
    """The versions must tell of just as many writes as were found."""
    if not all(counts.values()):
        raise NotDeferrable("a side writes a tensor without saying so")
    for node in graph.nodes:
        for tensor in graph_writes.tensors_of(node):
            count = counts.get(storage_of(tensor))
            is_input = node.op in ("placeholder", "get_attr")
            if count is None or not (is_input or before.knows(tensor)):
                continue
            if tensor.is_inference() or tensor._version - before.of(tensor) != count:
                raise NotDeferrable("a side writes a tensor in a way that is not understood")


def _copy_before(tx: Any, operand: fx.Node, node: fx.Node) -> Any:
    with tx.output.graph.inserting_before(node):
        current = fx.Proxy(operand, tx.output.current_tracer)
        return truth.emitted(tx, "call_method", "clone", current).as_proxy()
