"""What a run was asked to do, as one picklable value that worker processes receive."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`select` holds full rule codes, sorted; None stands for every rule."""

    fix: bool = False
    diff: bool = False
    unsafe: bool = False
    generated: bool = False
    plain: bool = False
    trap: str = "deferred"
    select: tuple[str, ...] | None = None
    cache: bool = True

    @property
    def writes(self) -> bool:
        """Whether mended files are written back."""
        return self.fix and not self.diff
