"""The rewriters, in the order in which they are offered a site."""

from __future__ import annotations

from typing import Protocol

from graphmend.detect.site import Site
from graphmend.facts import Facts
from graphmend.rewrite import defer, trap
from graphmend.rewrite.names import Names
from graphmend.rewrite.outline import Outline
from graphmend.rewrite.refusal import Refused

__all__ = ["REWRITERS", "Names", "Outline", "Refused", "Rewriter"]


class Rewriter(Protocol):
    """A way to mend one kind of site."""

    def applies(self, site: Site) -> bool:
        """Whether the site is of its kind."""

    def rewrite(
        self, site: Site, facts: Facts, names: Names, decorators: dict[str, str]
    ) -> Outline:
        """Mend the site; `decorators` says what the runtime's are called here.

        Raises `Refused` where the promise cannot be shown to hold.
        """


# [Trap] first: a raise in a branch would block its selection. Selection has its place between the
# two, and output comes last, when returns are final.
REWRITERS: tuple[Rewriter, ...] = (trap, defer)
