"""Control-flow graph of a function: one node a statement header, except clause or case."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx

    from graphmend.ir.symbols import Function


class Sentinel(Enum):
    """Where a function starts and ends. END joins EXIT and RAISE in post-dominator trees."""

    ENTRY = "entry"
    EXIT = "exit"
    RAISE = "raise"
    END = "end"


Node = ast.stmt | ast.ExceptHandler | ast.match_case | Sentinel
Loop = ast.For | ast.AsyncFor | ast.While
With = ast.With | ast.AsyncWith
Try = ast.Try | ast.TryStar


class Label(StrEnum):
    """Why control goes along an edge. BACK comes on top of the others (see Cfg.graph)."""

    NEXT = "next"
    TRUE = "true"
    FALSE = "false"
    EXCEPT = "except"
    BACK = "back"


class TryPart(StrEnum):
    """The part of a try statement that something stands in."""

    BODY = "body"
    HANDLER = "handler"
    ELSE = "else"
    FINALLY = "finally"


@dataclass(frozen=True, slots=True)
class Edge:
    """A transfer of control. `unbinds` are except clauses' names, deleted on the way out."""

    source: Node
    target: Node
    label: Label
    back: bool = False
    unbinds: frozenset[str] = frozenset()


class Cfg:
    """The statements a function may run, and in which order.

    A compound statement is the node of its header. Every statement inside a try (or a `with`
    that may swallow exceptions) may raise; elsewhere only `raise` and `assert` do. A finally
    block occurs once, shared by all ways through it, so paths are over-approximated.
    """

    def __init__(self, function: Function) -> None:
        from graphmend.ir.cfg_builder import build

        self.function = function
        self._module = function.module
        self.nodes, self.edges = build(function)
        self._out: dict[Node, list[Edge]] = {node: [] for node in self.nodes}
        self._in: dict[Node, list[Edge]] = {node: [] for node in self.nodes}
        for edge in self.edges:
            self._out[edge.source].append(edge)
            self._in[edge.target].append(edge)

    def out_edges(self, node: Node) -> list[Edge]:
        """The edges that leave a node."""
        return self._out[node]

    def in_edges(self, node: Node) -> list[Edge]:
        """The edges that reach a node."""
        return self._in[node]

    def node_of(self, node: ast.AST) -> Node:
        """The graph node that evaluates `node`; of a lambda's body, EXIT."""
        here: ast.AST | None = node
        while here is not None and here is not self.function.node:
            if here in self._out:
                assert isinstance(here, ast.stmt | ast.ExceptHandler | ast.match_case)
                return here
            here = self._module.parent(here)
        if here is self.function.node and isinstance(here, ast.Lambda):
            return Sentinel.EXIT
        raise ValueError(f"not part of the body of {self.function.qualname}")

    @cached_property
    def graph(self) -> nx.DiGraph[Node]:
        """The graph in networkx's form; edges carry `labels`, a frozenset of Label."""
        import networkx as nx

        graph: nx.DiGraph[Node] = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        for edge in self.edges:
            labels = {edge.label, Label.BACK} if edge.back else {edge.label}
            if graph.has_edge(edge.source, edge.target):
                labels |= graph.edges[edge.source, edge.target]["labels"]
            graph.add_edge(edge.source, edge.target, labels=frozenset(labels))
        return graph

    # --- dominance ---------------------------------------------------------------------

    def dominators(self) -> dict[Node, Node]:
        """Immediate dominators of every node that ENTRY reaches, ENTRY excluded."""
        return self._dominators

    def post_dominators(self) -> dict[Node, Node]:
        """Immediate post-dominators of every node that reaches an end; the root is END."""
        return self._post_dominators

    def dominates(self, a: Node, b: Node) -> bool:
        """Whether every path from ENTRY to `b` goes through `a` (each node dominates itself)."""
        return _above(a, b, self._dominators)

    def post_dominates(self, a: Node, b: Node) -> bool:
        """Whether every path from `b` to an end, by return or exception, goes through `a`."""
        return _above(a, b, self._post_dominators)

    @cached_property
    def _dominators(self) -> dict[Node, Node]:
        import networkx as nx

        found = nx.immediate_dominators(self.graph, Sentinel.ENTRY)
        return {node: above for node, above in found.items() if node is not Sentinel.ENTRY}

    @cached_property
    def _post_dominators(self) -> dict[Node, Node]:
        import networkx as nx

        backwards = self.graph.reverse()
        backwards.add_edge(Sentinel.END, Sentinel.EXIT)
        backwards.add_edge(Sentinel.END, Sentinel.RAISE)
        found = nx.immediate_dominators(backwards, Sentinel.END)
        return {node: above for node, above in found.items() if node is not Sentinel.END}

    # --- order -------------------------------------------------------------------------

    def reachable_after(self, statement: ast.stmt) -> set[ast.stmt]:
        """The statements that may start after `statement`'s header, its own blocks included.

        Contains the statement itself where it stands in a loop.
        """
        found: set[Node] = set()
        stack: list[Node] = [edge.target for edge in self._out[self.node_of(statement)]]
        while stack:
            node = stack.pop()
            if node not in found:
                found.add(node)
                stack.extend(edge.target for edge in self._out[node])
        return {node for node in found if isinstance(node, ast.stmt)}

    # --- lexical nesting, innermost first ----------------------------------------------

    def enclosing_loops(self, node: ast.AST) -> list[Loop]:
        """The loops of this function whose bodies hold `node`."""
        return [
            parent
            for parent, child in self._around(node)
            if isinstance(parent, Loop) and child in parent.body
        ]

    def enclosing_withs(self, node: ast.AST) -> list[With]:
        """The with statements of this function whose bodies hold `node`."""
        return [
            parent
            for parent, child in self._around(node)
            if isinstance(parent, With) and child in parent.body
        ]

    def enclosing_trys(self, node: ast.AST) -> list[tuple[Try, TryPart]]:
        """The try statements of this function around `node`, each with the part it is in."""
        return [
            (parent, _part(parent, child))
            for parent, child in self._around(node)
            if isinstance(parent, Try)
        ]

    def _around(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        child = node
        for parent in self._module.ancestors(node):
            if parent is self.function.node:
                return
            yield parent, child
            child = parent


def _above(a: Node, b: Node, tree: dict[Node, Node]) -> bool:
    here: Node | None = b
    while here is not None:
        if here is a:
            return True
        here = tree.get(here)
    return False


def _part(statement: Try, child: ast.AST) -> TryPart:
    if child in statement.body:
        return TryPart.BODY
    if child in statement.handlers:
        return TryPart.HANDLER
    return TryPart.ELSE if child in statement.orelse else TryPart.FINALLY
