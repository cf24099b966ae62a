"""Decides, when a region is complete, when each deferred call runs and what it needs.

Where no place after the graph is right for a call, the analysis starts over with that call in
place.
"""

import functools
from typing import Any

import torch
from torch import fx
from torch._dynamo.variables.builder import wrap_fx_proxy

from graphmend.runtime import graph_hazards, graph_writes, python_writes
from graphmend.runtime.arguments import NotDeferrable
from graphmend.runtime.fallback import start_over
from graphmend.runtime.marks import Kind
from graphmend.runtime.region import Phase, Record, Region, Restore

_LATE = frozenset((Phase.BEFORE_WRITES, Phase.AFTER_WRITES))


def plan(region: Region, output: Any, open_frames: list[Any]) -> None:
    """Give every record of `region` its phase, its values and what a failing check restores.

    `open_frames` are the translators of the frames that go on after the region. Raises
    RestartAnalysis when a record has to run in place after all.
    """
    planner = _Planner(output, open_frames)
    earliest = Phase.BEFORE_GRAPH
    for record in region.records:
        try:
            earliest = planner.plan(record, earliest)
        except NotDeferrable as reason:
            start_over(output, record.site, record.speculations, str(reason))
    for record in reversed(region.records):
        record.arguments.drop_unused_copies(output.graph)


class _Planner:
    def __init__(self, output: Any, open_frames: list[Any]) -> None:
        self._open_frames = open_frames
        self._output = output
        self._final_writes = python_writes.snapshot(output.side_effects)
        self._copies: dict[tuple[fx.Node, int], tuple[Record, Restore]] = {}

    @functools.cached_property
    def _operators(self) -> dict[fx.Node, int]:
        return {node: i for i, node in enumerate(graph_writes.operators(self._output.graph))}

    @functools.cached_property
    def _failing(self) -> dict[fx.Node, int]:
        return {node: i for node, i in self._operators.items() if graph_hazards.may_fail(node)}

    @functools.cached_property
    def _unseen_writes(self) -> list[tuple[int, set[int]]]:
        """Storages written without a version that tells, with the positions of the operators."""
        writes = ((i, graph_writes.written_unseen(node)) for node, i in self._operators.items())
        return [(position, storages) for position, storages in writes if storages]

    @functools.cached_property
    def _writes_through_data(self) -> bool:
        return any(map(graph_writes.writes_through_data, self._operators))

    @functools.cached_property
    def _inputs(self) -> list[torch.Tensor]:
        return list(graph_writes.input_tensors(self._output.graph))

    def _written_after(self, record: Record, position: int) -> set[int]:
        """The storages that the graph writes after the call of `record`."""
        written = record.versions.changed(self._inputs)
        return written.union(*(s for i, s in self._unseen_writes if i > position))

    def plan(self, record: Record, earliest: Phase) -> Phase:
        if self._writes_through_data:
            # What `.data` aliases is lost on compilers; a break is what kept them right.
            raise NotDeferrable("the region writes a tensor through its .data")
        position = self._position(record)
        written = self._written_after(record, position)
        fails_after = any(i > position for i in self._failing.values())
        inputs = self._written_inputs(written)
        if record.kind is Kind.CHECK:
            if fails_after:
                raise NotDeferrable("an operator that may fail on data follows the check")
            phases = self._phases_by_writes(record)
            if record.around.finals:
                self._require_nothing_after(record, inputs)
            record.restores = [self._restore(record, node) for node in inputs]
        else:
            phases = self._phases_of_effect(record, position, fails_after, earliest)
        if record.arguments.has_objects and inputs:
            raise NotDeferrable("a tensor that an argument may hold is written after the call")
        allowed = [phase for phase in sorted(phases) if phase >= earliest]
        if not allowed:
            raise NotDeferrable(
                "no point after the graph keeps it in order with other deferred calls"
            )
        record.phase = allowed[0]
        record.values = record.arguments.finish(written)
        return record.phase

    def _position(self, record: Record) -> int:
        if record.position is None:
            return -1
        if record.position._erased or record.position not in self._operators:
            raise NotDeferrable("its position in the graph is lost")
        return self._operators[record.position]

    def _phases_by_writes(self, record: Record) -> frozenset[Phase]:
        """The phases in which exactly the writes before the call are visible."""
        before = bool(record.writes)
        after = not python_writes.same(record.writes, self._final_writes)
        if before and after:
            raise NotDeferrable("Python objects are written both before and after the call")
        if before:
            return frozenset((Phase.AFTER_WRITES,))
        return frozenset((Phase.BEFORE_WRITES,)) if after else _LATE

    def _phases_of_effect(
        self, record: Record, position: int, fails_after: bool, earliest: Phase
    ) -> frozenset[Phase]:
        arguments = record.arguments
        if not fails_after:
            return self._phases_by_writes(record) if arguments.has_objects else _LATE
        if arguments.has_objects or arguments.has_data:
            raise NotDeferrable("an operator that may fail on data follows the report")
        follows = next((n for n, i in reversed(self._failing.items()) if i <= position), None)
        if earliest is Phase.BEFORE_GRAPH and follows is None:
            return frozenset((Phase.BEFORE_GRAPH,))
        if self._output.package is not None:
            raise NotDeferrable("operators that may fail on data stand on both sides of it")
        record.recovered, record.follows = True, follows
        return _LATE

    def _require_nothing_after(self, record: Record, inputs: list[fx.Node]) -> None:
        """A finally block runs before the exception of a check leaves, so its writes survive."""
        if inputs or not python_writes.same(record.writes, self._final_writes):
            raise NotDeferrable("something is written after a check inside try/finally")
        if any(frame in self._open_frames for frame in record.around.finals):
            raise NotDeferrable("the graph breaks before the finally block around the check")

    def _written_inputs(self, written: set[int]) -> list[fx.Node]:
        found = []
        for node in self._output.graph.nodes if written else ():
            value = graph_writes.example_of(node)
            if node.op not in ("placeholder", "get_attr") or value is None:
                continue
            if graph_writes.storage_of(value) in written:
                found.append(node)
        return found

    def _restore(self, record: Record, node: fx.Node) -> Restore:
        """The value of the input `node` at the check, copied in the graph."""
        grapharg = node.meta.get("grapharg")
        if node.op != "placeholder" or grapharg is None or grapharg.source is None:
            raise NotDeferrable("a tensor written after the check cannot be restored")
        value = graph_writes.example_of(node)
        assert value is not None
        version = record.versions.of(value)
        earlier = self._copies.get((node, version))
        if earlier is not None and not self._written_between(earlier[0], record, value):
            return earlier[1]
        restore = Restore(grapharg.source, self._copy_at(record, node))
        self._copies[node, version] = (record, restore)
        return restore

    def _written_between(self, first: Record, second: Record, value: Any) -> bool:
        storage = graph_writes.storage_of(value)
        start, end = self._position(first), self._position(second)
        return any(start < i <= end and storage in s for i, s in self._unseen_writes)

    def _copy_at(self, record: Record, node: fx.Node) -> Any:
        output, graph = self._output, self._output.graph
        if record.position is not None:
            point = graph.inserting_after(record.position)
        else:
            point = graph.inserting_before(next(iter(self._operators)))
        with point:
            proxy = fx.Proxy(node, output.current_tracer)
            detached = output.create_proxy("call_method", "detach", (proxy,), {})
            held = wrap_fx_proxy(output.root_tx, detached)
            with graph.inserting_after(held.as_proxy().node):
                copied = output.create_proxy("call_method", "clone", (held.as_proxy(),), {})
                return wrap_fx_proxy(output.root_tx, copied)
