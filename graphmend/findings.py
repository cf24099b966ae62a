"""What a run of graphmend says: findings, edits, and the mended text."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path


class Category(StrEnum):
    """The cause of a graph break, in the abbreviations of the published survey."""

    CONTROL_FLOW = "DC"
    LOGGING = "LC"
    GUARD = "VG"
    DYNAMIC_SHAPE = "DS"
    SCALAR = "TI"


class Status(StrEnum):
    """What became of a site: can be mended, was mended, or is left as it is."""

    FIXABLE = "fixable"
    FIXED = "fixed"
    REFUSED = "refused"


class Grade(StrEnum):
    """How far a fix can be trusted; `fix` applies SAFE, `fix --unsafe` also UNSAFE."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    SHOWN = "shown"


class Trap(StrEnum):
    """What a guard that raises becomes: a check behind the graph, or an assert inside it."""

    DEFERRED = "deferred"
    ASYNC = "async"


@dataclass(frozen=True, slots=True)
class Finding:
    """One break site. Lines and columns count from 1, columns in characters.

    `copied_from` is what its function is a copy of, where a comment says so.
    """

    code: str
    category: Category
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str
    message: str
    break_type: str
    status: Status
    grade: Grade | None = None
    reason: str | None = None
    copied_from: str | None = None

    def to_json(self) -> dict[str, object]:
        """The finding as a JSON-able dict; keys are the field names."""
        return {key: str(v) if isinstance(v, StrEnum) else v for key, v in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `text[start:end]` of the original by `replacement` (offsets in characters).

    `origin_line` is the 1-based line of the original that the first line of the replacement
    stands for; further lines of moved statements count on from it.
    """

    start: int
    end: int
    replacement: str
    origin_line: int


@dataclass(frozen=True, slots=True)
class Result:
    """A mended text: the new source, the findings, the edits that made it, the files consulted."""

    source: str
    findings: tuple[Finding, ...]
    edits: tuple[Edit, ...]
    consulted: frozenset[Path]
