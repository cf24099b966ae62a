"""Analyses kept from file to file of one project, while nothing but graphmend changes its files."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmend.analyses.effects import Effects
    from graphmend.analyses.kinds import Kinds
    from graphmend.ir.project import Project
    from graphmend.ir.source import Source
    from graphmend.ir.texts import Texts

_MOST_FILES = 64  # before the memory that the analyses hold is given back


@dataclass(frozen=True, slots=True)
class Analyses:
    """A project and what has been worked out about it so far."""

    project: Project
    kinds: Kinds
    effects: Effects

    @classmethod
    def of(cls, path: Path, texts: Texts | None = None) -> Analyses:
        """The analyses of the project that the file at `path` belongs to, with nothing in them.

        `texts`: as for `Project.of`.
        """
        # Imported here: whoever opens a session may meet no file that needs them.
        from graphmend.analyses.effects import Effects
        from graphmend.analyses.kinds import Kinds
        from graphmend.ir.project import Project

        project = Project.of(path, texts)
        kinds = Kinds(project)
        return cls(project, kinds, Effects(project, kinds))


class Session:
    """Holds the analyses of the last project asked for."""

    def __init__(self) -> None:
        self._root: Path | None = None
        self._analyses: Analyses | None = None
        self._files = 0

    def analyses(self, source: Source) -> Analyses:
        """The analyses for a file, kept from the file before where both are of one project."""
        from graphmend.ir import roots

        path = source.path.absolute()
        root = roots.root_of(path)
        kept, texts = self._analyses, None
        if kept is not None and (root != self._root or kept.project.knows_otherwise(source)):
            kept = self._analyses = None
        elif kept is not None and self._files >= _MOST_FILES:
            if path in (kept.project.files or ()):
                texts = kept.project.texts  # small beside the analyses, and as true as before
            kept = self._analyses = None
            gc.collect()  # they refer to each other, and the collector may be paused
        if kept is None:
            kept = self._analyses = Analyses.of(path, texts)
            self._root, self._files = root, 0
        self._files += 1
        return kept


_current: ContextVar[Session | None] = ContextVar("graphmend_session", default=None)


@contextmanager
def use(session: Session) -> Iterator[None]:
    """Let every file that is mended in the block share the session."""
    token = _current.set(session)
    try:
        yield
    finally:
        _current.reset(token)


def analyses(source: Source) -> Analyses:
    """The analyses for a file: of the session in use, or made for this file alone."""
    session = _current.get()
    return Analyses.of(source.path) if session is None else session.analyses(source)
