"""The analyses of one module, gathered for the detector and the rewriters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from graphmend.analyses.aliases import Aliases
from graphmend.analyses.effects import Effects
from graphmend.analyses.kinds import Kinds
from graphmend.analyses.reach import reached
from graphmend.ir.module import Function, Module
from graphmend.ir.project import Project


@dataclass
class Facts:
    """What is known about `module` in `project`; every part is computed when first asked for."""

    module: Module
    project: Project

    @cached_property
    def kinds(self) -> Kinds:
        """Value kinds of expressions."""
        return Kinds(self.project)

    @cached_property
    def effects(self) -> Effects:
        """Effects of expressions, statements and functions."""
        return Effects(self.project, self.kinds)

    @cached_property
    def aliases(self) -> Aliases:
        """Aliases and in-place writes."""
        return Aliases(self.effects)

    @cached_property
    def reached(self) -> dict[Function, str]:
        """The functions torch.compile may trace, each with the reason."""
        return reached(self.project, self.module)
