"""Which tensors a traced graph writes in place after a given point.

TorchDynamo runs every operator on fake tensors as it records it; an in-place write bumps their
version counter, which views share. Storages identify what aliases what. The few operators that
write without a bump are listed here.
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import fx

from graphmend.runtime.graph_hazards import operator_name, subgraphs

# Operators whose fake run leaves the version of what they write alone, with the operands they
# write.
_SILENT_WRITERS = {
    "batch_norm": (1, 2, 3, 4),
    "instance_norm": (1, 2, 3, 4),
    "native_batch_norm": (3, 4),
    "cudnn_batch_norm": (3, 4),
}


def example_of(node: fx.Node) -> torch.Tensor | None:
    """The fake tensor that stands for `node`'s value, if it is a tensor."""
    value = node.meta.get("example_value")
    return value if isinstance(value, torch.Tensor) else None


def tensors_of(node: fx.Node) -> list[torch.Tensor]:
    """The fake tensors that `node`'s value consists of."""
    found: list[torch.Tensor] = []
    map_tensors(node.meta.get("example_value"), found.append)
    return found


def requires_grad(node: fx.Node) -> bool:
    """Whether gradients flow back through `node`."""
    return any(tensor.requires_grad for tensor in tensors_of(node))


def map_tensors(value: Any, function: Callable[[torch.Tensor], Any]) -> Any:
    """`value` with the tensors in it, nested in tuples and lists, replaced."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size):
        return tuple(map_tensors(item, function) for item in value)
    return value


def storage_of(tensor: torch.Tensor) -> int:
    """An identity of the storage behind a fake tensor; shared by everything that aliases it."""
    return int(tensor.untyped_storage()._cdata)


def is_same_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two fake tensors are alike in all but identity."""
    return storage_of(one) == storage_of(other) and all(
        read(one) == read(other)
        for read in (
            *(torch.Tensor.size, torch.Tensor.stride, torch.Tensor.storage_offset),
            lambda tensor: (type(tensor), tensor.dtype, tensor.requires_grad),
        )
    )


def operators(graph: fx.Graph) -> Iterator[fx.Node]:
    """The operators of the graph, in order."""
    return (node for node in graph.nodes if node.op not in ("placeholder", "output", "get_attr"))


def last_operator(graph: fx.Graph) -> fx.Node | None:
    """The latest operator recorded; None while there is none."""
    inputs = ("placeholder", "get_attr")
    return next((node for node in reversed(graph.nodes) if node.op not in inputs), None)


@dataclasses.dataclass(frozen=True)
class Versions:
    """The versions, at one point of the trace, of the graph's inputs and of some more tensors."""

    known: tuple[tuple[torch.Tensor, int], ...]

    @classmethod
    def now(cls, graph: fx.Graph, more: Iterable[torch.Tensor]) -> "Versions":
        tensors = {id(t): t for t in itertools.chain(input_tensors(graph), more)}
        return cls(tuple((t, _version(t)) for t in tensors.values()))

    def changed(self, inputs: Iterable[torch.Tensor]) -> set[int]:
        """The storages written since, going by versions; `inputs` are now those of the graph."""
        seen = {id(t) for t, _ in self.known}
        written = {storage_of(t) for t, before in self.known if _version(t) != before}
        new = (t for t in inputs if id(t) not in seen)
        return written | {storage_of(t) for t in new if _version(t) > 0}

    @classmethod
    def of_all(cls, graph: fx.Graph) -> "Versions":
        """The versions of all tensors that the graph has now."""
        return cls.now(graph, [t for node in graph.nodes for t in tensors_of(node)])

    @functools.cached_property
    def _by_identity(self) -> dict[int, int]:
        return {id(tensor): version for tensor, version in self.known}

    def storages(self) -> set[int]:
        """The storages of the tensors that were there at that point."""
        return {storage_of(tensor) for tensor, _ in self.known}

    def knows(self, tensor: torch.Tensor) -> bool:
        """Whether the graph had `tensor` at that point."""
        return id(tensor) in self._by_identity

    def of(self, tensor: torch.Tensor) -> int:
        """The version `tensor` had at that point; 0 when the graph did not know it yet."""
        return self._by_identity.get(id(tensor), 0)


def input_tensors(graph: fx.Graph) -> Iterator[torch.Tensor]:
    """The fake tensors of the graph's inputs and constants."""
    for node in graph.nodes:
        value = example_of(node)
        if node.op in ("placeholder", "get_attr") and value is not None:
            yield value


def _version(tensor: torch.Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def written_unseen(node: fx.Node) -> set[int]:
    """The storages that `node` writes, or may write, without a version that tells."""
    name = operator_name(node)
    operands: list[Any] = []
    if name in _SILENT_WRITERS:
        operands = [node.args[p] for p in _SILENT_WRITERS[name] if p < len(node.args)]
        operands += list(node.kwargs.values())
    elif isinstance(node.target, torch._ops.HigherOrderOperator):
        inner = subgraphs(node)
        if not inner or any(_looks_in_place(n) for graph in inner for n in graph.nodes):
            operands = [node.args, node.kwargs]
    elif _looks_in_place(node) and any(t.is_inference() for t in _tensors(node.args)):
        operands = [node.args, node.kwargs]
    return {storage_of(t) for t in _tensors(operands)}


def destinations(node: fx.Node) -> list[fx.Node]:
    """The operands that `node` writes in place, by its name; silent writers aside."""
    name = operator_name(node)
    if name in _SILENT_WRITERS or not _looks_in_place(node):
        return []
    found: list[fx.Node] = []
    fx.node.map_arg(node.kwargs.get("out", node.args[:1]), lambda operand: found.append(operand))
    return found


def written_by(node: fx.Node) -> set[int]:
    """The storages that `node` writes, going by its name."""
    named = (t for operand in destinations(node) for t in tensors_of(operand))
    return written_unseen(node) | {storage_of(tensor) for tensor in named}


def writes_through_data(node: fx.Node) -> bool:
    """Whether `node` takes the .data of a tensor, which has a version of its own, to write it."""
    value = example_of(node)
    return operator_name(node) == "_get_data_attr" and value is not None and _version(value) > 0


def _looks_in_place(node: fx.Node) -> bool:
    name = operator_name(node)
    if name in _SILENT_WRITERS or "out" in node.kwargs or node.kwargs.get("inplace"):
        return True
    if name in ("setitem", "__setitem__") or (name.endswith("_") and not name.endswith("__")):
        return True
    return name.startswith("i") and name[1:] in ("add", "sub", "mul", "truediv", "floordiv", "pow")


def _tensors(operand: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []

    def visit(node: fx.Node) -> fx.Node:
        value = example_of(node)
        if value is not None:
            found.append(value)
        return node

    fx.node.map_arg(operand, visit)
    return found
