"""The rewriters, in the order in which they are offered a site."""

from __future__ import annotations

from typing import Protocol

from graphmend.detect.site import Site
from graphmend.facts import Facts
from graphmend.findings import Trap
from graphmend.rewrite import defer, trap, trap_async, trap_plain, where
from graphmend.rewrite.names import Names
from graphmend.rewrite.outline import Outline
from graphmend.rewrite.refusal import Refused
from graphmend.rewrite.selection import Selection
from graphmend.rewrite.trap_plain import InGraphAssert
from graphmend.rewrite.where_plain import PlainSelection

__all__ = [
    "Fix",
    "InGraphAssert",
    "Names",
    "Outline",
    "Refused",
    "Rewriter",
    "Selecting",
    "rewriters",
]

Selecting = Selection | PlainSelection
"""A branch that becomes a selection, by the runtime or in plain PyTorch."""

Fix = Outline | Selecting | InGraphAssert
"""What a rewriter makes of a site: a statement that moves out, a branch that selects, an assert."""


class Rewriter(Protocol):
    """A way to mend one kind of site."""

    def applies(self, site: Site) -> bool:
        """Whether the site is of its kind."""

    def rewrite(self, site: Site, facts: Facts, names: Names, runtime: dict[str, str]) -> Fix:
        """Mend the site; `runtime` says what the runtime's functions are called here.

        Raises `Refused` where the promise cannot be shown to hold.
        """


def rewriters(mode: Trap, plain: bool) -> tuple[Rewriter, ...]:
    """The rewriters that a site is offered to, in order, given the form that guards are to take.

    [Trap] comes first: a raise in a branch would block its selection. Output comes last, when
    returns are final.
    """
    in_graph: Rewriter = trap_plain if plain else trap_async
    return (in_graph if mode is Trap.ASYNC else trap, where, defer)
