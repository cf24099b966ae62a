"""One side of a selection, traced into the graph, and what must hold for it to run untaken.

A side that runs although its branch is not taken must not show: it draws no random numbers, cannot
fail on data, and what it writes is undone. Writes to Python objects are taken back in the trace.
"""

import dataclasses
from typing import Any

import torch
from torch import fx
from torch._dynamo.current_scope_id import enter_new_scope
from torch._dynamo.exc import RestartAnalysis
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.functions import LocalGeneratorObjectVariable
from torch._dynamo.variables.iter import IteratorVariable
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from graphmend.runtime import (
    constant_hazards,
    graph_hazards,
    graph_writes,
    operators,
    places,
    python_writes,
    undo,
)
from graphmend.runtime.arguments import NotDeferrable
from graphmend.runtime.region import Gate, region_of
from graphmend.runtime.side_writes import Writes, recording

_ITERATORS = (IteratorVariable, LocalGeneratorObjectVariable)

_NUMBERS = (int, float, torch.Size, torch.SymInt, torch.SymFloat, torch.SymBool)

# What may be done, without failing, to numbers that are read from tensors.
_NUMBER_OPERATORS = frozenset(("item", "add", "sub", "mul", "neg"))

# Operators that change a tensor other than by writing its data.
_TENSOR_SETTERS = frozenset(
    ("requires_grad_", "retain_grad", "register_hook", "set_", "resize_", "resize_as_", "backward")
    + ("_set_data", "detach_", "rename_", "share_memory_", "t_", "transpose_", "squeeze_")
    + ("unsqueeze_", "as_strided_", "swapaxes_", "swapdims_", "_set_grad")
)


@dataclasses.dataclass(frozen=True)
class Side:
    """What a side gives, the operators that it added to the graph, and what it wrote."""

    result: Any
    nodes: list[fx.Node]
    writes: Writes


@dataclasses.dataclass(frozen=True)
class _State:
    """What a side must leave as it was."""

    writes: python_writes.Snapshot
    modes: dict[str, Any]
    records: int
    counts: tuple[int, ...]

    @classmethod
    def now(cls, tx: Any) -> "_State":
        output = tx.output
        asserts = output.shape_env.deferred_runtime_asserts.values()
        return cls(
            writes=python_writes.snapshot(output.side_effects),
            modes=_modes(output),
            records=len(region_of(output).records),
            counts=(
                len(output.random_calls),
                len(output.side_effects.tensor_hooks),
                sum(map(len, asserts)),
            ),
        )


def _modes(output: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    output.save_global_state(out=found)
    modes = {name: value for name, (_, value) in found.items()}
    return {**modes, "torch": places.modes_now()}


def trace(tx: Any, condition: Any, wanted: bool, function: Any, values: list[Any]) -> Side:
    """Trace a call of `function`, the side that is taken when `condition` is `wanted`.

    Raises NotDeferrable unless it may run untaken.
    """
    _require_no_iterators(tx, [function, values])
    before, versions = _State.now(tx), graph_writes.Versions.of_all(tx.output.graph)
    last = next(iter(reversed(tx.output.graph.nodes)), None)
    result, writes = _traced(tx, function, values)
    nodes = _operators_after(tx.output.graph, last)
    for node in nodes:
        _require_harmless(node)
    _require_unchanged(before, _State.now(tx))
    _gate_records(tx, before.records, Gate(condition, wanted), writes)
    for node in nodes:
        if graph_writes.tensors_of(node) and operators.draws(node, tx.fake_mode):
            raise NotDeferrable(f"a side may draw random numbers ({_name(node)})")
    written = _written(tx.output.graph, versions, nodes)
    if written:
        undo.undo_writes(tx, condition, wanted, nodes, written, versions)
    return Side(result, nodes, writes)


def _require_no_iterators(tx: Any, given: Any) -> None:
    """TorchDynamo advances some iterators without a word, so none may come from outside."""

    seen: dict[int, Any] = {}

    def visit(variable: Any) -> None:
        if isinstance(variable, _ITERATORS):
            raise NotDeferrable("a side may advance an iterator")
        stored = tx.output.side_effects.store_attr_mutations.get(variable, {})
        VariableTracker.visit(visit, stored, seen)

    VariableTracker.visit(visit, given, seen)


def _traced(tx: Any, function: Any, values: list[Any]) -> tuple[Any, Writes]:
    try:
        # In a scope of its own, TorchDynamo asks about writes to objects that come from outside.
        with enter_new_scope(), recording(tx.output.side_effects) as recorder:
            result = function.call_function(tx, values, {}).realize()
    except (NotDeferrable, RestartAnalysis):
        raise
    except Exception as error:
        if hasattr(error, "remove_from_stats"):
            error.remove_from_stats()
        text = str(error).strip().split("\n", 1)[0]
        raise NotDeferrable(f"a side cannot be traced: {type(error).__name__}: {text}") from error
    if tx.output.should_exit:
        raise NotDeferrable("the graph breaks in a side")
    return result, recorder.take_back()


def _operators_after(graph: fx.Graph, last: fx.Node | None) -> list[fx.Node]:
    found: list[fx.Node] = []
    for node in reversed(graph.nodes):
        if node is last:
            break
        if node.op not in ("placeholder", "get_attr"):
            found.append(node)
    return found[::-1]


def _name(node: fx.Node) -> str:
    return graph_hazards.operator_name(node) or str(node.target)


def _require_harmless(node: fx.Node) -> None:
    name = _name(node)
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        raise NotDeferrable(f"a side contains a higher-order operator ({name})")
    if graph_hazards.may_fail(node):
        raise NotDeferrable(f"a side may fail on its data ({name})")
    if constant_hazards.fails_for_a_number(node):
        raise NotDeferrable(f"a side may fail for a number in its arguments ({name})")
    if name in _TENSOR_SETTERS:
        raise NotDeferrable(f"a side changes a tensor ({name})")
    tensors = graph_writes.tensors_of(node)
    if any(free_unbacked_symbols(tensor) for tensor in tensors):
        raise NotDeferrable(f"a side makes a size that depends on data ({name})")
    value = node.meta.get("example_value")
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        if free_unbacked_symbols(value) and name not in _NUMBER_OPERATORS:
            raise NotDeferrable(f"a side computes with numbers read from tensors ({name})")
    is_number = isinstance(value, _NUMBERS)
    if not tensors and not is_number and not operators.sets_mode(node):  # modes are compared
        raise NotDeferrable(f"a side contains an operator that gives no tensor ({name})")


def _gate_records(tx: Any, earlier: int, gate: Gate, writes: Writes) -> None:
    """Let the calls that the side defers happen only if it is taken."""
    for record in region_of(tx.output).records[earlier:]:
        if writes.attributes or writes.items:
            raise NotDeferrable("a side both defers a call and writes to Python objects")
        record.gates.insert(0, gate)
        record.arguments.has_data = True


def _require_unchanged(before: _State, after: _State) -> None:
    if not python_writes.same(before.writes, after.writes):
        raise NotDeferrable("a side writes to Python objects in a way that cannot be taken back")
    if before.modes != after.modes:
        raise NotDeferrable("a side changes a mode")
    for what, earlier, later in zip(
        ("draws random numbers", "registers a hook", "adds a check"),
        before.counts,
        after.counts,
        strict=True,
    ):
        if earlier != later:
            raise NotDeferrable(f"a side {what}")


def _written(graph: fx.Graph, before: graph_writes.Versions, nodes: list[fx.Node]) -> set[int]:
    """The storages from outside that the side writes."""
    inputs = list(graph_writes.input_tensors(graph))
    written = before.changed(inputs).union(*map(graph_writes.written_by, nodes))
    if not written:
        return written
    return written & before.storages().union(map(graph_writes.storage_of, inputs))
