"""The rewriters, in the order in which they are offered a site."""

from __future__ import annotations

from typing import Protocol

from graphmend.detect.site import Site
from graphmend.facts import Facts
from graphmend.rewrite import defer, trap, where
from graphmend.rewrite.names import Names
from graphmend.rewrite.outline import Outline
from graphmend.rewrite.refusal import Refused
from graphmend.rewrite.selection import Selection

__all__ = ["REWRITERS", "Fix", "Names", "Outline", "Refused", "Rewriter", "Selection"]

Fix = Outline | Selection
"""What a rewriter makes of a site: a statement that moves out, or a branch that selects."""


class Rewriter(Protocol):
    """A way to mend one kind of site."""

    def applies(self, site: Site) -> bool:
        """Whether the site is of its kind."""

    def rewrite(self, site: Site, facts: Facts, names: Names, runtime: dict[str, str]) -> Fix:
        """Mend the site; `runtime` says what the runtime's functions are called here.

        Raises `Refused` where the promise cannot be shown to hold.
        """


# [Trap] first: a raise in a branch would block its selection. Output comes last, when returns are
# final.
REWRITERS: tuple[Rewriter, ...] = (trap, where, defer)
