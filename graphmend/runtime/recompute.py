"""What was computed before a branch, and is used by one side alone, computed again on that side.

No gradient reaches it where the side is not taken. Zeros would: and 0 / 0 is NaN. In front of its
computation there is no place for gates, since the predicate may come from it. So the side gets a
copy of its own, which gives the same bits, and the original is left to those without gradients.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import fx
from torch._dynamo.variables.builder import wrap_fx_proxy

from graphmend.runtime import graph_writes, operators
from graphmend.runtime.arguments import NotDeferrable
from graphmend.runtime.graph_hazards import operator_name


class Recomputation:
    """Copies, for each of two sides, of what it alone uses.

    `uneven` is what one of them alone uses, `nodes` what they added to the graph, and `results`
    are the selections of what they give.
    """

    def __init__(
        self, tx: Any, uneven: set[fx.Node], nodes: list[fx.Node], results: list[fx.Node]
    ) -> None:
        self._tx = tx
        self._uneven = uneven
        self._results = results
        self._order = {node: place for place, node in enumerate(tx.output.graph.nodes)}
        self._branch = min(self._order[node] for node in (*nodes, *results))

    def on_side(self, alone: set[fx.Node], nodes: list[fx.Node]) -> list[fx.Node]:
        """Compute `alone` again in front of the `nodes` of a side, which then read the copies.

        So do the selections where the side gives one of them as it is. Raises NotDeferrable where
        the copies could be told from the originals.
        """
        originals = sorted(alone, key=self._order.__getitem__)
        first = self._order[originals[0]]
        between = [node for node, place in self._order.items() if first < place < self._branch]
        _require_same_again(self._tx, originals, between)
        _require_same_order(originals, set(between) - self._uneven)
        copies: dict[fx.Node, fx.Node] = {}
        readers = [*nodes, *self._results]
        start = min(readers, key=self._order.__getitem__)
        with self._tx.output.graph.inserting_before(start):
            for node in originals:
                copies[node] = _copy(self._tx, node, copies)
        for reader in readers:
            for original, copy in copies.items():
                reader.replace_input_with(original, copy)
        return list(copies.values())


def _require_same_again(tx: Any, originals: list[fx.Node], between: list[fx.Node]) -> None:
    """Nothing that `originals` depend on may change `between` them and the side."""
    if any(map(operators.sets_mode, between)):
        raise NotDeferrable("a mode changes after a tensor whose gradient may become NaN")
    for node in originals:
        is_tensor = graph_writes.example_of(node) is not None
        if not is_tensor or not operators.is_pointwise(node, tx.fake_mode):
            name = operator_name(node)
            raise NotDeferrable(
                f"a side alone uses a tensor whose gradient may become NaN (through {name})"
            )
    read = {t for n in originals for operand in n.all_input_nodes for t in _plain_tensors(operand)}
    written = set().union(*map(graph_writes.written_by, between))
    if any(tensor._version > 0 or graph_writes.storage_of(tensor) in written for tensor in read):
        raise NotDeferrable("a tensor whose gradient may become NaN depends on one that is written")


def _plain_tensors(node: fx.Node) -> list[torch.Tensor]:
    tensors = graph_writes.tensors_of(node)
    if any(tensor.is_inference() for tensor in tensors) or graph_writes.writes_through_data(node):
        raise NotDeferrable("writes to a tensor are not seen")
    return tensors


def _require_same_order(originals: list[fx.Node], between: Iterable[fx.Node]) -> None:
    """Gradients add up from the last reader of a tensor to the first, and round on the way.

    Those of the other side are zeros.
    """
    operands = {operand for node in originals for operand in node.all_input_nodes}
    shared = operands.difference(originals)
    for node in between:
        if shared.intersection(node.all_input_nodes) and graph_writes.requires_grad(node):
            raise NotDeferrable("gradients would be added up in another order")


def _copy(tx: Any, node: fx.Node, copies: dict[fx.Node, fx.Node]) -> fx.Node:
    def operand(read: fx.Node) -> Any:
        return fx.Proxy(copies.get(read, read), tx.output.current_tracer)

    args, kwargs = fx.node.map_arg((node.args, node.kwargs), operand)
    proxy = tx.output.create_proxy(node.op, node.target, args, kwargs)
    copy: fx.Node = wrap_fx_proxy(tx, proxy).as_proxy().node
    value, again = graph_writes.example_of(node), graph_writes.example_of(copy)
    assert value is not None and again is not None
    if (value.dtype, value.stride()) != (again.dtype, again.stride()):
        raise NotDeferrable("computed again, a tensor is another one")
    return copy
