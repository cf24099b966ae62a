"""Names of objects, as they are written on a command line: `module:name` or `file.py:name`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphmend.ir.roots import base_of, module_name


class TargetError(Exception):
    """A target or its inputs cannot be loaded, or are not what they must be."""


@dataclass(frozen=True, slots=True)
class Reference:
    """`name` (which may be dotted) in a `module`; `file` where that was named by its file."""

    module: str
    name: str
    file: Path | None = None

    @classmethod
    def parse(cls, text: str) -> Reference:
        """The reference that `text` is; TargetError for another text, or a missing file."""
        place, _, name = text.rpartition(":")
        if not place or not name:
            raise TargetError(f"{text!r} is neither module:name nor file.py:name")
        if not place.endswith(".py"):
            return cls(place, name)
        file = Path(place).resolve()
        if not file.is_file():
            raise TargetError(f"no such file: {place}")
        return cls(module_name(file), name, file)

    @property
    def folder(self) -> Path | None:
        """The folder that the module's name is relative to, where it was named by its file."""
        return None if self.file is None else base_of(self.file)
