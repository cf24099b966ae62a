"""Copies of the modules of a program, original and mended, that it can be run from."""

from __future__ import annotations

import ast
import importlib.util
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import decode_source
from pathlib import Path
from types import CodeType, ModuleType

from graphmend.edits import apply
from graphmend.findings import Edit
from graphmend.hook.lines import line_origins
from graphmend.hook.positions import relocate
from graphmend.ir.source import decode

ORIGINAL, MENDED = "original", "mended"
MANIFEST = "modules.json"


@dataclass(frozen=True, slots=True)
class Copy:
    """A module: its name, where its file comes from, and the edits that mend it."""

    name: str
    origin: str
    edits: tuple[Edit, ...] = ()

    @property
    def is_package(self) -> bool:
        """Whether it is the `__init__.py` of a package."""
        return Path(self.origin).name == "__init__.py"

    @property
    def place(self) -> Path:
        """The place of its file below the folder of a side."""
        parts = self.name.split(".")
        return Path(*parts, "__init__.py") if self.is_package else Path(*parts).with_suffix(".py")


def write(folder: Path, copies: Iterable[Copy]) -> None:
    """Write both sides of every module below `folder`; a mended side only where it differs."""
    copies = list(copies)
    for copy in copies:
        data = Path(copy.origin).read_bytes()
        _write(folder / ORIGINAL / copy.place, data)
        if copy.edits:
            mended = apply(decode_source(data), copy.edits)
            written_as = decode(data, Path(copy.origin))
            _write(folder / MENDED / copy.place, written_as.encode(mended))
    (folder / MANIFEST).write_text(json.dumps([asdict(copy) for copy in copies], indent=2))


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def read(folder: Path) -> list[Copy]:
    """What `write` wrote."""
    rows = json.loads((folder / MANIFEST).read_text())
    return [Copy(r["name"], r["origin"], tuple(Edit(**e) for e in r["edits"])) for r in rows]


class Finder(MetaPathFinder):
    """Finds the copied modules of one side, before anything else does."""

    def __init__(self, folder: Path, side: str) -> None:
        self._folder = folder
        self._side = side
        self._copies: Mapping[str, Copy] = {copy.name: copy for copy in read(folder)}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The copy of that name, if there is one."""
        copy = self._copies.get(name)
        if copy is None:
            return None
        file = self._folder / ORIGINAL / copy.place
        mended = self._folder / MENDED / copy.place
        use = mended if self._side == MENDED and mended.exists() else None
        folders = [str(file.parent), str(Path(copy.origin).parent)] if copy.is_package else None
        return importlib.util.spec_from_file_location(
            name,
            file,
            loader=_Loader(name, str(file), use, copy.edits),
            submodule_search_locations=folders,
        )


class _Loader(SourceFileLoader):
    """Loads a copy. Mended code has the places of the original where its edits are known."""

    def __init__(self, name: str, path: str, mended: Path | None, edits: tuple[Edit, ...]) -> None:
        super().__init__(name, path)
        self._mended = mended
        self._edits = edits

    def get_code(self, fullname: str) -> CodeType:
        """The code of the side that is loaded."""
        original = _text(Path(self.path))
        text = original if self._mended is None else _text(self._mended)
        tree = ast.parse(text)
        if self._mended is not None and text == apply(original, self._edits):
            relocate(tree, line_origins(original, self._edits), original)
        code: CodeType = compile(tree, self.path, "exec", dont_inherit=True)
        return code


def _text(path: Path) -> str:
    return decode_source(path.read_bytes())
