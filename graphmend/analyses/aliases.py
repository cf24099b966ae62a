"""Which names may share memory, and what is written in place after a statement."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from graphmend.analyses.effects import Effects
from graphmend.analyses.roots import Roots
from graphmend.ir.module import Function


class Aliases:
    """Aliasing in the functions of one project.

    Memory that comes from outside (arguments, attributes, globals) may all be the same: the
    caller can pass one tensor twice, or one that an attribute holds.
    """

    def __init__(self, effects: Effects) -> None:
        self._effects = effects

    def may_alias(self, a: str | ast.expr, b: str | ast.expr, function: Function) -> bool:
        """Whether two names, or expressions where they stand, may share memory."""
        return _meet(self.roots(a, function), self.roots(b, function))

    def roots(self, value: str | ast.expr, function: Function) -> Roots:
        """The origins of the memory behind a name (anywhere in the function) or expression."""
        if isinstance(value, str):
            return self._effects.roots.of_name(value, function)
        return self._effects.roots.of(value, function)

    def written_after(
        self, values: Iterable[str | ast.expr], stmt: ast.stmt, function: Function
    ) -> list[ast.stmt]:
        """The statements that may run after `stmt` and write to memory one of the values may share.

        `stmt` itself counts where a loop comes back to it. In source order.
        """
        roots: Roots = frozenset().union(*(self.roots(value, function) for value in values))
        return [
            later
            for later in self._after(stmt, function)
            if any(
                _meet(roots, frozenset({write.root}))
                for write in self._effects.of_statement(later, function).writes
            )
        ]

    def outside_written_after(self, stmt: ast.stmt, function: Function) -> list[ast.stmt]:
        """The statements that may run after `stmt` and write to memory from outside."""
        return [
            later
            for later in self._after(stmt, function)
            if any(write.outside for write in self._effects.of_statement(later, function).writes)
        ]

    def _after(self, stmt: ast.stmt, function: Function) -> list[ast.stmt]:
        found = (s for s in function.cfg.reachable_after(stmt) if isinstance(s, ast.stmt))
        return sorted(found, key=lambda s: (s.lineno, s.col_offset))


def _meet(a: Roots, b: Roots) -> bool:
    return bool(a & b) or any(x.outside for x in a) and any(y.outside for y in b)
