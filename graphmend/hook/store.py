"""A folder of stored results, named by a hash of everything they depend on.

Which other files a result depends on is known only once it has been made. So a manifest, named
by the source alone, lists those files, and the entry is named by the source and their content.
Processes may share the folder: a file appears whole or not at all, and is checked when read.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType

from graphmend.hook import digests
from graphmend.hook.entry import Entry
from graphmend.hook.warn import warn

_LAYOUT = "v1"


def default_folder() -> Path:
    """GRAPHMEND_CACHE_DIR where it is set, else graphmend's folder in the user's cache."""
    given = os.environ.get("GRAPHMEND_CACHE_DIR")
    if given:
        return Path(given)
    import platformdirs

    return Path(platformdirs.user_cache_dir("graphmend", appauthor=False))


@dataclass(frozen=True, slots=True)
class Stored:
    """An entry and the key under which it is stored; None while it is not."""

    entry: Entry
    key: str | None


class Store:
    """Stored results in `folder`. A folder that cannot be used costs time, never the result."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files = digests.Files()
        self._warned = False

    def find(self, source_key: str) -> Stored | None:
        """The entry for a source, if it is there, sound, and the files it rests on are the same."""
        manifest = self._read(self._path("sources", source_key))
        if manifest is None:
            return None
        consulted = manifest.decode("utf-8", "surrogateescape").split("\0") if manifest else []
        key = digests.combined(source_key, self._files.digest(consulted))
        data = self._read(self._path("entries", key))
        if data is None:
            return None
        try:
            return Stored(Entry.from_bytes(data), key)
        except (ValueError, TypeError, KeyError):
            return None  # written by something else; it will be overwritten

    def keep(
        self, source_key: str, entry: Entry, consulted: Iterable[Path], since: int
    ) -> str | None:
        """Store an entry that rests on `consulted`; its key, or None where it is not stored.

        It is not where a consulted file changed after `since` (ns), as the entry may rest on
        either content.
        """
        paths = sorted({os.path.abspath(path) for path in consulted})
        if _changed(paths, since):
            return None
        key = digests.combined(source_key, self._files.digest(paths, fresh=True))
        manifest = "\0".join(paths).encode("utf-8", "surrogateescape")
        if not self._write(self._path("entries", key), entry.to_bytes()):
            return None
        return key if self._write(self._path("sources", source_key), manifest) else None

    def code(self, key: str) -> CodeType | None:
        """The compiled form of the entry `key` for this interpreter, if stored."""
        data = self._read(self._code_path(key))
        code = marshal.loads(data) if data is not None else None
        return code if isinstance(code, CodeType) else None

    def keep_code(self, key: str, code: CodeType) -> None:
        """Store the compiled form of the entry `key`, unless Python is to write no bytecode."""
        if not sys.dont_write_bytecode:
            self._write(self._code_path(key), marshal.dumps(code))

    def _code_path(self, key: str) -> Path:
        flags = f"O{sys.flags.optimize}"
        return self._path("code", digests.combined(key, MAGIC_NUMBER, flags))

    def _path(self, kind: str, key: str) -> Path:
        return self.folder / _LAYOUT / kind / key[:2] / key[2:]

    def _read(self, path: Path) -> bytes | None:
        try:
            data = path.read_bytes()
        except OSError:
            return None
        seal, body = data[:32], data[32:]
        return body if sha256(body).digest() == seal else None

    def _write(self, path: Path, body: bytes) -> bool:
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write_whole(path, sha256(body).digest() + body)
        except OSError as error:
            self._warn(error)
            return False
        return True

    def _warn(self, error: OSError) -> None:
        if not self._warned:
            self._warned = True
            warn(
                f"the cache folder {self.folder} cannot be written "
                f"({error.strerror or error}); modules are mended anew in each process "
                "(set GRAPHMEND_CACHE_DIR to another folder)"
            )


def _write_whole(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _changed(paths: Iterable[str], since: int) -> bool:
    for path in paths:
        with contextlib.suppress(OSError):
            if not os.path.isdir(path) and os.stat(path).st_mtime_ns > since:
                return True
    return False


def now() -> int:
    """The time for `Store.keep`'s `since`."""
    return time.time_ns()
