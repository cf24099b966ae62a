"""The analyses of one module, gathered for the detector and the rewriters."""

from __future__ import annotations

from dataclasses import dataclass

from graphmend.analyses.effects import Effects
from graphmend.analyses.kinds import Kinds
from graphmend.ir.module import Module
from graphmend.ir.project import Project


@dataclass(frozen=True)
class Facts:
    """What is known about `module` in `project`: value kinds, and effects of running code."""

    module: Module
    project: Project
    kinds: Kinds
    effects: Effects
