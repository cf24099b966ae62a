"""Which files of a project name something: a search through their texts, before any is parsed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from graphmend.ir import roots

_STAR_IMPORT = re.compile(rb"import[ \t\\]+\*")
_NAMES = re.compile(rb"[\w\s,()\\]*(#.*)?$")  # as between the parentheses of an import
_WORD = re.compile(rb"\w")
_KEPT_BYTES = 64 << 20
_INDEX_AFTER = 30  # searches; taking all words of all files costs as much as some 40 of them
_ONLY_WORDS = bytes(byte if _WORD.match(bytes([byte])) else 32 for byte in range(256))


class Texts:
    """The texts of a project's files, read when asked for, and the words in them.

    `near` is a file of the project at `root`.
    """

    def __init__(self, root: Path, near: Path) -> None:
        self._root = root
        self._near = near
        self._adopted: dict[Path, bytes] = {}
        self._read: dict[Path, bytes] = {}
        self._kept = 0
        self._mentions: dict[str, list[Path] | None] = {}
        self._index: dict[bytes, list[Path]] | None = None

    @cached_property
    def files(self) -> list[Path] | None:
        """Every Python file of the project; None where there are too many to search."""
        return roots.project_files(self._root, self._near)

    @property
    def searched(self) -> bool:
        """Whether an answer so far rests on a search through all files."""
        return bool(self._mentions)

    def adopt(self, path: Path, text: bytes) -> None:
        """Let `text` stand for the file, whatever is on disk."""
        if self._index is not None and text != self.of(path) and path in (self.files or ()):
            _add_words(self._index, path, text)
        self._adopted[path] = text

    def of(self, path: Path) -> bytes:
        """The bytes of a file; empty where it cannot be read."""
        text = self._adopted.get(path) or self._read.get(path)
        if text is not None:
            return text
        try:
            with open(path, "rb", buffering=0) as stream:
                text = stream.read()
        except OSError:
            return b""
        if self._kept + len(text) <= _KEPT_BYTES:
            self._kept += len(text)
            self._read[path] = text
        return text

    def mentioning(self, name: str) -> list[Path] | None:
        """The files in which `name` occurs as a whole word; None: cannot tell."""
        if name not in self._mentions:
            self._mentions[name] = self._search(name)
        return self._mentions[name]

    def could_import(self, path: Path, name: str) -> bool:
        """Whether the text at `path` may bind or reach `name` of another module."""
        text, word = self.of(path), name.encode()
        if _STAR_IMPORT.search(text):
            return True
        return any(
            b"import" in line or b"." + word in line or _NAMES.match(line)
            for line in _lines_with(text, word)
        )

    def _search(self, name: str) -> list[Path] | None:
        files = self.files
        if files is None:
            return None
        word = name.encode()
        if len(self._mentions) >= _INDEX_AFTER and name.isascii() and name.isidentifier():
            files = self._indexed(files).get(word, [])
        return [
            path
            for path in files
            if word in (text := self.of(path)) and any(_lines_with(text, word))
        ]

    def _indexed(self, files: list[Path]) -> dict[bytes, list[Path]]:
        if self._index is None:
            self._index = {}
            for path in files:
                for word in _words(self.of(path)):
                    self._index.setdefault(word, []).append(path)
        return self._index


def _words(text: bytes) -> set[bytes]:
    return set(text.translate(_ONLY_WORDS).split())


def _add_words(index: dict[bytes, list[Path]], path: Path, text: bytes) -> None:
    """Add a file that has another text now; words that it lost cost a look at it, no more."""
    for word in _words(text):
        paths = index.setdefault(word, [])
        place = bisect_left(paths, path)
        if paths[place : place + 1] != [path]:
            paths.insert(place, path)


def _lines_with(text: bytes, word: bytes) -> Iterator[bytes]:
    """The lines in which the whole word occurs, but for those that are only a comment."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        whole = not (_WORD.match(text, at - 1, at) or _WORD.match(text, end, end + 1))
        first = text.rfind(b"\n", 0, at) + 1
        last = text.find(b"\n", end)
        line = text[first : last if last >= 0 else len(text)]
        if whole and not line.lstrip().startswith(b"#"):
            yield line
        at = text.find(word, end)
