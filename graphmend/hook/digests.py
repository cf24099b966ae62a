"""Hashes that name what a stored result depends on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path

_ABSENT = b"-"
_PACKAGE = Path(__file__).resolve().parent.parent
# What the mended text may depend on besides graphmend itself.
_DISTRIBUTIONS = ("libcst", "torch")


def combined(*parts: bytes | str) -> str:
    """A hash over `parts`, in order; no two different sequences share one by concatenation."""
    digest = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()


@cache
def tool() -> str:
    """A hash of graphmend (its version, code, rules and data), Python, and what it builds on."""
    parts: list[bytes | str] = [sys.implementation.cache_tag or "", sys.version]
    parts += [f"{name} {_version(name)}" for name in ("graphmend", *_DISTRIBUTIONS)]
    for folder in (_PACKAGE, _PACKAGE.parent / "rules"):
        for path in sorted(_tool_files(folder)):
            parts += [path.relative_to(folder).as_posix(), path.read_bytes()]
    return combined(*parts)


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "-"


def _tool_files(folder: Path) -> Iterator[Path]:
    for suffix in (".py", ".json", ".toml"):
        yield from folder.rglob(f"*{suffix}")


class Files:
    """Content hashes of files and folders, remembered while size, times and inode stay."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, ...], bytes]] = {}
        self._folders: dict[str, bytes] = {}

    def digest(self, paths: Iterable[str], *, fresh: bool = False) -> str:
        """One hash over `paths` and their content.

        A folder stands for every Python file below it; it is walked once a process unless
        `fresh`. A path that cannot be read counts as absent.
        """
        parts: list[bytes | str] = []
        for path in sorted(paths):
            parts += [path, self._folder(path, fresh) if os.path.isdir(path) else self._file(path)]
        return combined(*parts)

    def _file(self, path: str) -> bytes:
        try:
            status = os.stat(path)
            stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
            known = self._known.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            with open(path, "rb") as stream:
                digest = sha256(stream.read()).digest()
        except OSError:
            return _ABSENT
        self._known[path] = stamp, digest
        return digest

    def _folder(self, path: str, fresh: bool) -> bytes:
        if fresh or path not in self._folders:
            parts: list[bytes | str] = []
            for name in _python_files(path):
                parts += [name, self._file(name)]
            self._folders[path] = combined(*parts).encode()
        return self._folders[path]


def _python_files(folder: str) -> Iterator[str]:
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(n for n in folders if n.isidentifier() and n != "__pycache__")
        yield from (os.path.join(base, n) for n in sorted(names) if n.endswith(".py"))
