"""A branch as a selection: its sides become functions where they stand, a call chooses.

    if test:                      def then(x):
        x = f(x)                      x = f(x)
                        ->            return x
                                  x = select(test, then, lambda x: x, x)

The text of the sides stays in its place; only what follows an early return moves, by one level of
indentation. Where the sides leave Python numbers, what is done with them becomes a function, too,
and each side calls it. Edits are made from the text as it is when their turn comes: branches
inside a side are turned into selections later, then in a function of its own.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from graphmend.detect.site import Site
from graphmend.findings import Edit
from graphmend.ir.module import Module
from graphmend.rewrite.branches import edit_branch, edit_choice, edit_number
from graphmend.rewrite.draft import Draft
from graphmend.rewrite.names import Names
from graphmend.rewrite.predicate import Predicate
from graphmend.rewrite.refusal import Refused
from graphmend.rewrite.sheet import Sheet
from graphmend.rewrite.words import Words


@dataclass(frozen=True, slots=True)
class Selection:
    """A branch or conditional expression that becomes a selection.

    `start` is the offset of its `if` in the original text, and of an expression its first
    character. `used_by` counts the statements that follow it and
    run on each side. `caches` are attributes that one side fills for later calls.
    """

    site: Site
    start: int
    predicate: Predicate
    select: str
    used_by: int = 0
    caches: tuple[str, ...] = ()
    words: Words = Words()

    @property
    def runtime_names(self) -> frozenset[str]:
        """What the mended text calls of the runtime, as it is called there."""
        return frozenset({self.select, *self.predicate.helpers})

    @property
    def plain(self) -> bool:
        """Whether the mended text runs without graphmend."""
        return False

    def named(self, names: Names) -> Selection:
        """The same, with names for the functions it makes that the module does not use."""
        return replace(self, words=self.words.fresh(names, self._wanted()))

    def _wanted(self) -> set[str]:
        wanted = {"then", "otherwise"} if isinstance(self.site.node, ast.If) else set()
        return wanted | ({"rest"} if self.used_by else set())

    def edits(self, draft: Draft, module: Module) -> list[Edit]:
        """The edits that make the selection in `module`, the draft as it is now.

        Raises `Refused` where the text does not allow it.
        """
        node = self._node(draft, module)
        function = module.function_of(node)
        assert function is not None
        sheet = Sheet(module, draft)
        if isinstance(node, ast.If):
            edit_branch(self, node, function, sheet)
        elif self.used_by:
            edit_number(self, node, function, sheet)
        else:
            edit_choice(self, node, function, sheet)
        return sheet.edits()

    def _node(self, draft: Draft, module: Module) -> ast.If | ast.IfExp:
        """The branch as it is now."""
        kind = ast.If if isinstance(self.site.node, ast.If) else ast.IfExp
        place = draft.place_of(self.start)
        if place is not None:
            places = {place, place - 2} if kind is ast.If else {place}  # `if`, and that of `elif`
            for node in module.nodes:
                if isinstance(node, kind) and module.offsets(node)[0] in places:
                    return node
        raise Refused("another fix has taken its place")
