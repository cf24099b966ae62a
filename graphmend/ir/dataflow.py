"""Reaching definitions, definite binding and liveness over a function's control-flow graph."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphmend.ir.accesses import Accesses, Definition, DefinitionKind, NodeAccess
from graphmend.ir.cfg import Edge, Label, Node, Sentinel
from graphmend.ir.scopes import BindingKind, ScopeKind
from graphmend.ir.symbols import Function

__all__ = ["Definition", "DefinitionKind", "Flow"]


class Flow:
    """Answers about the local names of one function.

    "At a statement" means when its header starts; asked about a try or match statement, the
    answers cover its except clauses and cases too. Names may be given as spelled.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self._cfg = function.cfg
        self._scope = function.scope
        self._accesses = Accesses(function)
        self._definitions: list[Definition] = []
        self._number: dict[Definition, int] = {}
        self._of_name: dict[str, int] = {}
        self._asked_before: dict[tuple[ast.stmt, str], frozenset[Definition]] = {}
        self._names: dict[str, int] = {}
        for access in self._accesses.nodes.values():
            for definition in (*access.sure, *access.maybe):
                self._enumerate(definition)
        for name in self._scope.bindings:
            self._names.setdefault(name, len(self._names))
        self._reaching = self._solve_reaching()
        self._bound = self._solve_bound()
        self._live = self._solve_live()

    # --- questions ---------------------------------------------------------------------

    def definitions_reaching(self, stmt: ast.stmt, name: str) -> frozenset[Definition]:
        """The definitions whose value `name` may have while the statement's header runs.

        Empty where the name is never bound there. Bindings that the header itself makes before
        other parts of it run (a walrus, a capture before its guard) count.
        """
        key = (stmt, name)
        if key not in self._asked_before:
            self._asked_before[key] = self._definitions_reaching(stmt, self._scope.mangle(name))
        return self._asked_before[key]

    def _definitions_reaching(self, stmt: ast.stmt, name: str) -> frozenset[Definition]:
        external = Definition(name, Sentinel.ENTRY, None, DefinitionKind.EXTERNAL)
        if name not in self._names:
            return frozenset({external})
        mask = 0
        for node in self._asked(stmt):
            mask |= self._reaching[node] | self._mask(self._accesses.nodes[node].early)
        found = set(self._unmask(mask & self._of_name.get(name, 0)))
        if name in self._accesses.volatile:
            found.add(external)
        return frozenset(found)

    def definitely_bound(self, stmt: ast.stmt, name: str) -> bool:
        """Whether `name` is surely bound when the statement starts; False where not known."""
        name = self._scope.mangle(name)
        if name not in self._names:
            return self._bound_outside(name)
        if name in self._accesses.undone:
            return False
        bit = 1 << self._names[name]
        return all(self._bound[node] & bit for node in self._asked(stmt))

    def uses(self, definition: Definition) -> frozenset[ast.Name]:
        """The reads that may see a definition; reads in closures may see any of the name."""
        bit = 1 << self._number[definition]
        found = set(self._accesses.deferred.get(definition.name, ()))
        for node, access in self._accesses.nodes.items():
            if definition in access.early or self._reaching[node] & bit:
                mangle = self._scope.mangle
                found.update(n for n in access.reads if mangle(n.id) == definition.name)
        return frozenset(found)

    def live_after(self, stmt: ast.stmt) -> set[str]:
        """Local names that may be read, before being rebound, once the whole statement is left.

        Names that closures read, that are declared global or nonlocal, or that a call such as
        `locals()` may see, count as live everywhere.
        """
        inside = self._inside(stmt)
        mask = 0
        for node in inside:
            for edge in self._cfg.out_edges(node):
                if edge.target not in inside:
                    mask |= self._live[edge.target] & ~self._name_mask(edge.unbinds)
        return {self._scope.spelling[n] for n, i in self._names.items() if mask >> i & 1} | {
            self._scope.spelling[n] for n in self._always_live()
        }

    # --- helpers -----------------------------------------------------------------------

    def _asked(self, stmt: ast.stmt) -> list[Node]:
        node = self._cfg.node_of(stmt)
        if isinstance(node, ast.Try | ast.TryStar):
            return [node, *node.handlers]
        return [node, *node.cases] if isinstance(node, ast.Match) else [node]

    def _inside(self, stmt: ast.stmt) -> set[Node]:
        inside: set[Node] = {self._cfg.node_of(stmt)}
        if isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return inside
        nodes = self._accesses.nodes
        inside.update(node for node in ast.walk(stmt) if node in nodes)
        return inside

    def _always_live(self) -> Iterable[str]:
        if self._accesses.all_read:
            return self._names
        return (self._accesses.deferred.keys() | self._accesses.volatile) & self._names.keys()

    def _bound_outside(self, name: str) -> bool:
        owner = self._scope.owner(name)
        if owner is None or owner.kind is not ScopeKind.FUNCTION:
            return False
        kinds = {binding.kind for binding in owner.bindings_of(name)}
        return BindingKind.PARAMETER in kinds and BindingKind.DELETE not in kinds

    def _enumerate(self, definition: Definition) -> None:
        if definition not in self._number:
            number = self._number[definition] = len(self._definitions)
            self._definitions.append(definition)
            self._of_name[definition.name] = self._of_name.get(definition.name, 0) | 1 << number

    def _mask(self, definitions: Iterable[Definition]) -> int:
        mask = 0
        for definition in definitions:
            mask |= 1 << self._number[definition]
        return mask

    def _unmask(self, mask: int) -> Iterable[Definition]:
        while mask:
            low = mask & -mask
            yield self._definitions[low.bit_length() - 1]
            mask ^= low

    def _name_mask(self, names: Iterable[str]) -> int:
        mask = 0
        for name in names:
            mask |= 1 << self._names[self._scope.mangle(name)]
        return mask

    def _all_of(self, names: Iterable[str]) -> int:
        mask = 0
        for name in names:
            mask |= self._of_name.get(self._scope.mangle(name), 0)
        return mask

    # --- the three problems ------------------------------------------------------------

    def _solve_reaching(self) -> dict[Node, int]:
        """Which definitions reach each node, as a bit mask."""
        effects = {edge: self._reaching_effect(edge) for edge in self._cfg.edges}
        reaching = dict.fromkeys(self._cfg.nodes, 0)
        work = self._cfg.nodes[::-1]
        while work:
            node = work.pop()
            for edge in self._cfg.out_edges(node):
                killed, made = effects[edge]
                after = reaching[node] & ~killed | made
                if after & ~reaching[edge.target]:
                    reaching[edge.target] |= after
                    work.append(edge.target)
        return reaching

    def _reaching_effect(self, edge: Edge) -> tuple[int, int]:
        """The definitions that control along an edge removes, and those it adds."""
        access = self._accesses.nodes[edge.source]
        unbound = self._all_of(edge.unbinds)
        made = access.sure + access.maybe
        if not _completes(edge):
            if edge.label is Label.FALSE and not isinstance(edge.source, ast.match_case):
                made = [d for d in made if d.kind is DefinitionKind.WALRUS]
            return unbound, self._mask(made) & ~unbound
        # A walrus inside a statement is overwritten by the statement's own target.
        stored = {d.name for d in access.sure if d.kind is not DefinitionKind.WALRUS}
        made = [d for d in made if d.kind is not DefinitionKind.WALRUS or d.name not in stored]
        killed = self._all_of({d.name for d in access.sure} | access.deletes) | unbound
        return killed, self._mask(made) & ~unbound

    def _solve_bound(self) -> dict[Node, int]:
        """Which names are bound on every path to each node; all of them where there is none."""
        everything = (1 << len(self._names)) - 1
        bound = dict.fromkeys(self._cfg.nodes, everything)
        bound[Sentinel.ENTRY] = 0
        effects = {}
        for edge in self._cfg.edges:
            access = self._accesses.nodes[edge.source]
            lost = self._name_mask(access.deletes | edge.unbinds)
            effects[edge] = lost, self._name_mask(_rebound(access, edge)) & ~lost
        work = self._cfg.nodes[::-1]
        while work:
            node = work.pop()
            for edge in self._cfg.out_edges(node):
                lost, gained = effects[edge]
                after = bound[node] & ~lost | gained
                if bound[edge.target] & ~after:
                    bound[edge.target] &= after
                    work.append(edge.target)
        return bound

    def _solve_live(self) -> dict[Node, int]:
        """Which names each node, or a path from it, may read before rebinding them."""
        live = {
            node: self._name_mask(name.id for name in access.reads)
            for node, access in self._accesses.nodes.items()
        }
        ended = {
            edge: self._name_mask(_rebound(self._accesses.nodes[edge.source], edge) | edge.unbinds)
            for edge in self._cfg.edges
        }
        work = self._cfg.nodes[:]
        while work:
            target = work.pop()
            for edge in self._cfg.in_edges(target):
                before = live[target] & ~ended[edge]
                if before & ~live[edge.source]:
                    live[edge.source] |= before
                    work.append(edge.source)
        return live


def _rebound(access: NodeAccess, edge: Edge) -> set[str]:
    """The names that the edge's source has surely bound when control takes the edge."""
    return {d.name for d in access.sure} if _completes(edge) else set()


def _completes(edge: Edge) -> bool:
    """Whether the source node has done all its bindings when control takes the edge."""
    if edge.label is Label.EXCEPT:
        return False
    binds_when_true = isinstance(
        edge.source, ast.For | ast.AsyncFor | ast.ExceptHandler | ast.match_case
    )
    return not (binds_when_true and edge.label is Label.FALSE)
