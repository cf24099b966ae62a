"""Whether the result of a selection could be told from the tensor that the branch gave.

A branch may give a tensor that existed before; the selection gives a new one. That shows when one
of them is written in place afterwards, or when both leave the region.
"""

import dataclasses
from typing import Any

from torch import fx
from torch._dynamo import variables
from torch._dynamo.bytecode_analysis import livevars_analysis

from graphmend.runtime import fallback, graph_writes
from graphmend.runtime.gradients import Gated
from graphmend.runtime.graph_writes import storage_of
from graphmend.runtime.join import Joined
from graphmend.runtime.region import FrameReason, Region, SiteKey, region_of


@dataclasses.dataclass(frozen=True)
class Selection:
    """One selection in the graph, as it was when it was traced."""

    site: SiteKey
    speculations: int
    existing: frozenset[int]
    """The storages that there were before it."""
    gated: Gated
    joined: list[Joined]
    position: fx.Node | None
    versions: graph_writes.Versions

    def results(self) -> set[int]:
        """The storages of its results."""
        return {_storage(pair.result) for pair in self.joined}


def note(
    tx: Any,
    site: SiteKey,
    speculations: int,
    existing: set[int],
    gated: Gated,
    joined: list[Joined],
) -> None:
    """Remember a selection for `require_indistinguishable`."""
    if not joined:
        return
    graph = tx.output.graph
    inputs = map(storage_of, graph_writes.input_tensors(graph))  # the sides may have added some
    region_of(tx.output).selections.append(
        Selection(
            site=site,
            speculations=speculations,
            existing=frozenset(existing.union(inputs)),
            gated=gated,
            joined=joined,
            position=graph_writes.last_operator(graph),
            versions=graph_writes.Versions.of_all(graph),
        )
    )


def require_indistinguishable(output: Any) -> None:
    """Start over without a selection whose result, in the complete region, can be told apart."""
    region = region_of(output)
    selections = region.selections
    if not selections:
        return
    graph = output.graph
    groups = _Groups(selections)
    visible = _visible_outside(graph)
    for selection in reversed(selections):
        reason = _distinguished(selection, groups, visible, region, graph)
        if reason is not None:
            fallback.start_over(output, selection.site, selection.speculations, reason)


def require_other_objects(output: Any, left: Any, right: Any) -> None:
    """Start over without a selection for whose result the identity of two tensors is asked."""
    selections = region_of(output).selections
    compared = {_storage(variable.as_proxy().node) for variable in (left, right)}
    groups = _Groups(selections)
    for selection in reversed(selections):
        if any(compared & {r} and compared <= groups.of(r) for r in selection.results()):
            reason = "the result is compared by identity with a tensor that it may be"
            fallback.start_over(output, selection.site, selection.speculations, reason)


def held_by_frame(tx: Any) -> frozenset[int]:
    """The storages of the tensors that the frame of `tx` returns, or goes on with."""
    found: set[int] = set()

    def visit(variable: Any) -> None:
        if isinstance(variable, variables.TensorVariable):
            found.update(map(storage_of, graph_writes.tensors_of(variable.as_proxy().node)))

    live = livevars_analysis(tx.instructions, tx.current_instruction)
    kept = [value for name, value in tx.symbolic_locals.items() if name in live]
    variables.base.VariableTracker.visit(visit, [tx.stack, kept])
    return frozenset(found)


def _distinguished(
    selection: Selection,
    groups: "_Groups",
    visible: set[int],
    region: Region,
    graph: fx.Graph,
) -> str | None:
    written = _written_after(selection, graph)
    if written & selection.gated.read:
        return "what the gradient of a side needs is written in place later"
    if region.goes_on and region.held & selection.gated.read:
        return "what the gradient of a side needs is used after a graph break"
    if _carry_out(selection.gated.recomputed):
        return "what a side alone uses, and has no gradient where it is not taken, is used later"
    for pair in selection.joined:
        result = _storage(pair.result)
        group = groups.of(result)
        # What only the sides have is gone, but for its part in the result.
        alive = group & (selection.existing | selection.results())
        # What a side gives may be needed for its gradient: then autograd objects to the write.
        if written & group and (len(alive) > 1 or graph_writes.requires_grad(pair.result)):
            # After a break, compilers may take it for granted that the two are one, or that not.
            return FrameReason("what a side gives, or the result, is written in place later")
        # A slot of an object that is bound again may be bound to another tensor.
        leaves = not pair.stored or result in region.held
        if leaves and len(group & visible) > 1:
            return "the result leaves the region beside a tensor that it may be"
    return None


def _written_after(selection: Selection, graph: fx.Graph) -> set[int]:
    inputs = list(graph_writes.input_tensors(graph))
    written = selection.versions.changed(inputs)
    is_after = selection.position is None or selection.position._erased
    for node in graph_writes.operators(graph):
        if is_after:
            written |= graph_writes.written_by(node)
        is_after = is_after or node is selection.position
    return written


def _visible_outside(graph: fx.Graph) -> set[int]:
    """The storages of what comes into the region or leaves it."""
    found = {storage_of(tensor) for tensor in graph_writes.input_tensors(graph)}
    output = next(node for node in reversed(graph.nodes) if node.op == "output")
    for node in output.all_input_nodes:
        found |= {storage_of(tensor) for tensor in graph_writes.tensors_of(node)}
    return found


class _Groups:
    """Storages that may be one in the original program."""

    def __init__(self, selections: list[Selection]) -> None:
        self._groups: dict[int, set[int]] = {}
        for selection in selections:
            for pair in selection.joined:
                for source in (pair.then, pair.otherwise):
                    self._merge(_storage(pair.result), _storage(source))

    def of(self, storage: int) -> set[int]:
        return self._groups[storage]

    def _merge(self, one: int, other: int) -> None:
        merged = self._groups.get(one, {one}) | self._groups.get(other, {other})
        for storage in merged:
            self._groups[storage] = merged


def _carry_out(nodes: frozenset[fx.Node]) -> bool:
    """Whether gradients may flow back to `nodes` from what leaves the graph."""
    pending, seen = list(nodes), set(nodes)
    while pending:
        for user in pending.pop().users.keys() - seen:
            if user.op == "output":
                return True
            if graph_writes.requires_grad(user):
                if graph_writes.written_by(user):
                    return True
                seen.add(user)
                pending.append(user)
    return False


def _storage(node: fx.Node) -> int:
    value = graph_writes.example_of(node)
    assert value is not None
    return storage_of(value)
