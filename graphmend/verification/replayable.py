"""Whether CUDA graphs could replay a graph: captured in one graph is not the same as replayable."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils import _pytree as pytree

# Methods of tensors that bring their values to the host.
_HOST_READS = frozenset({"item", "tolist", "cpu", "numpy", "__bool__", "__int__", "__float__"})


def obstacles(graph: torch.fx.GraphModule) -> Iterator[str]:
    """What stands in the way, in words: sizes that depend on data, and values read by the host."""
    for node in graph.graph.nodes:
        name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
        if node.op == "call_method" and name in _HOST_READS:
            yield f"host read: {name}"
        elif _has_unbacked(node.meta.get("example_value")):
            yield f"size or number that depends on data: {name}"


def _has_unbacked(value: object) -> bool:
    numbers = (torch.SymInt, torch.SymFloat, torch.SymBool, torch.Tensor)
    return any(
        bool(free_unbacked_symbols(leaf))
        for leaf in pytree.tree_leaves(value)
        if isinstance(leaf, numbers)
    )
