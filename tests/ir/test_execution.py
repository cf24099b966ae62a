"""What the graphs claim holds in every execution of random programs."""

from __future__ import annotations

import ast
from functools import cached_property

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmend.ir.cfg import Node, Sentinel
from graphmend.ir.dataflow import Definition, DefinitionKind
from tests.ir.programs import NAMES, Event, Run, Runner, Token, programs
from tests.ir.samples import function


class Watched:
    """A program, its graphs, and one execution."""

    def __init__(self, text: str, seed: int) -> None:
        self.text = text
        self.function = function(text)
        self.cfg, self.flow = self.function.cfg, self.function.flow
        self.run: Run = Runner(text, seed).execute()

    @cached_property
    def node(self) -> dict[int, Node]:
        """The graph node of each event number."""
        return {
            call.args[0].value: self.cfg.node_of(call)  # type: ignore[misc]
            for call in ast.walk(self.function.node)
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("t", "it")
        }

    @cached_property
    def silent(self) -> set[Node]:
        """Nodes that may run without an event."""
        quiet = (ast.AugAssign, ast.match_case)
        spoken = set(self.node.values())
        return {n for n in self.cfg.nodes if n not in spoken or isinstance(n, quiet)}

    def leads(self, start: Node, end: Node) -> bool:
        """Whether some path from one node to another passes silent nodes only."""
        seen, stack = set(), [start]
        while stack:
            for edge in self.cfg.out_edges(stack.pop()):
                if edge.target is end:
                    return True
                if edge.target in self.silent and edge.target not in seen:
                    seen.add(edge.target)
                    stack.append(edge.target)
        return False

    def made(self, value: object, found: frozenset[Definition]) -> bool:
        """Whether one of the definitions can have made a value."""
        if any(d.kind is DefinitionKind.EXTERNAL for d in found):
            return True
        if not isinstance(value, Token):
            return any(d.kind is DefinitionKind.EXCEPT for d in found)
        maker = self.node.get(value.number, Sentinel.ENTRY)
        return any(d.stmt is maker for d in found)

    def is_use(self, value: Token, reader: Node, name: str) -> bool:
        """Whether a read is among the uses of the definition that made its value."""
        maker = self.node.get(value.number, Sentinel.ENTRY)
        found = self.flow.definitions_reaching(reader, name)  # type: ignore[arg-type]
        uses = [n for d in found if d.stmt is maker for n in self.flow.uses(d)]
        return any(n.id == name and self.cfg.node_of(n) is reader for n in uses)

    def reads(self, event: Event) -> set[str]:
        """The names that an event's own call reads after it, unless it raises."""
        for call in ast.walk(self.function.node):
            if isinstance(call, ast.Call) and len(call.args) > 1:
                number = call.args[0]
                if isinstance(number, ast.Constant) and number.value == event.number:
                    return {a.id for a in call.args[2:] if isinstance(a, ast.Name)}
        return set()


def _check_paths(w: Watched) -> None:
    last: Node = Sentinel.ENTRY
    for event in w.run.events:
        assert w.leads(last, w.node[event.number]), (w.text, last, event)
        last = w.node[event.number]
    if w.run.ending == "return":
        assert w.leads(last, Sentinel.EXIT), (w.text, last)
    if w.run.ending == "raise" and isinstance(last, ast.Raise):
        assert w.leads(last, Sentinel.RAISE), (w.text, last)


def _check_definitions(w: Watched) -> None:
    for event in w.run.events:
        node = w.node[event.number]
        for name in NAMES:
            found = w.flow.definitions_reaching(node, name)  # type: ignore[arg-type]
            if name in event.bound:
                assert w.made(event.bound[name], found), (w.text, event, name)
            else:
                sure = w.flow.definitely_bound(node, name)  # type: ignore[arg-type]
                assert not sure, (w.text, event, name)


def _check_dominance(w: Watched) -> None:
    order = [w.node[event.number] for event in w.run.events]
    spoken = set(w.node.values()) - w.silent
    left = w.run.ending == "return"
    for index, node in enumerate(order):
        for other in spoken:
            if w.cfg.dominates(other, node):
                assert other in order[: index + 1], (w.text, index, other)
            if left and w.cfg.post_dominates(other, node):
                assert other in order[index:], (w.text, index, other)
        if isinstance(node, ast.stmt):
            after = w.cfg.reachable_after(node)
            assert all(n in after for n in order[index + 1 :] if isinstance(n, ast.stmt)), w.text


def _check_liveness(w: Watched) -> None:
    events = w.run.events
    for index, event in enumerate(events):
        for name in w.reads(event) & event.bound.keys() if not event.raised else ():
            value, reader = event.bound[name], w.node[event.number]
            if isinstance(value, Token):
                assert w.is_use(value, reader, name), (w.text, event, name)
            for earlier in range(index - 1, -1, -1):
                if events[earlier + 1].bound.get(name) is not value:
                    break
                start = w.node[events[earlier].number]
                if isinstance(start, ast.stmt) and reader not in ast.walk(start):
                    assert name in w.flow.live_after(start), (w.text, start.lineno, event, name)


CHECKS = [_check_paths, _check_definitions, _check_dominance, _check_liveness]
lasting = settings(deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
cases = st.tuples(programs(), st.integers(0, 2**32))


def _check_all(text: str, seed: int) -> None:
    for offset in range(8):
        watched = Watched(text, seed + offset)
        for check in CHECKS:
            check(watched)


@settings(lasting, max_examples=60)
@given(cases)
def test_graphs_hold_in_every_execution(case: tuple[str, int]) -> None:
    _check_all(*case)


@pytest.mark.slow
@settings(lasting, max_examples=1500)
@given(cases)
def test_graphs_hold_in_very_many_executions(case: tuple[str, int]) -> None:
    _check_all(*case)
