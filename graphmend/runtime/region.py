"""The deferred calls of one compiled region, and what is known about each when it is recorded."""

import dataclasses
import enum
import types
from typing import Any

from torch import fx

from graphmend.runtime import python_writes
from graphmend.runtime.arguments import Arguments
from graphmend.runtime.graph_writes import Versions
from graphmend.runtime.handlers import Surroundings
from graphmend.runtime.marks import Kind
from graphmend.runtime.replay import Frame, Modes

SiteKey = tuple[tuple[types.CodeType, int], ...]
"""Code and instruction of each frame from the outermost one to the call."""


class FrameReason(str):
    """A reason against a call for which its frame is better not compiled at all."""


_REGION = "graphmend_region"
_IN_PLACE = "graphmend_in_place"


class Phase(enum.IntEnum):
    """When a deferred call runs in the compiled frame."""

    BEFORE_GRAPH = 0
    BEFORE_WRITES = 1
    """After the graph, before TorchDynamo replays writes to Python objects."""
    AFTER_WRITES = 2


@dataclasses.dataclass(frozen=True)
class Restore:
    """An input that the graph writes after a check: where it comes from, and its earlier value."""

    source: Any
    copy: Any


@dataclasses.dataclass(frozen=True)
class Gate:
    """A selection around a call: the side with the call is taken if `condition` is `wanted`."""

    condition: Any
    wanted: bool


@dataclasses.dataclass(eq=False)
class Record:
    """One deferred call, at the point where it was traced."""

    kind: Kind
    callee: Any
    function: types.FunctionType
    site: SiteKey
    place: tuple[Frame, ...]
    resumed: bool
    instruction: Any
    """The instruction of the outermost frame, for its line."""
    arguments: Arguments
    position: fx.Node | None
    """The last operator recorded before the call; None when there was none."""
    versions: Versions
    writes: python_writes.Snapshot
    modes: Modes
    around: Surroundings
    speculations: int
    """How many points the trace had passed at which TorchDynamo may break the graph."""

    gates: list[Gate] = dataclasses.field(default_factory=list)
    phase: Phase = Phase.BEFORE_WRITES
    values: list[Any] = dataclasses.field(default_factory=list)
    restores: list[Restore] = dataclasses.field(default_factory=list)
    recovered: bool = False
    """Whether the report is also made when the graph fails after `follows`."""
    follows: fx.Node | None = None
    """The last operator before the call that may fail on data."""


@dataclasses.dataclass(eq=False)
class Region:
    """What one trace of one frame has met so far, in program order."""

    records: list[Record] = dataclasses.field(default_factory=list)
    emitted: bool = False
    selections: list[Any] = dataclasses.field(default_factory=list)
    """What must hold for the results of selections; see `result_aliases`."""
    held: frozenset[int] = frozenset()
    """The storages of the tensors that the frame returns, or goes on with after the region."""
    goes_on: bool = False
    """Whether the region ends at a graph break."""


def region_of(output: Any) -> Region:
    """The region that the output graph `output` stands for."""
    region = output.__dict__.get(_REGION)
    if region is None:
        region = output.__dict__[_REGION] = Region()
    return region  # type: ignore[no-any-return]


def in_place_sites(tx: Any) -> dict[SiteKey | None, str]:
    """Calls that must run in place in this compile, with the reasons.

    It lasts when the analysis starts over. The key None stands for all calls.
    """
    sites: dict[SiteKey | None, str] = tx.speculation_log.__dict__.setdefault(_IN_PLACE, {})
    return sites
