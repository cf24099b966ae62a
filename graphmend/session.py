"""Analyses kept from file to file of one project, while nothing but graphmend changes its files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from graphmend.analyses.effects import Effects
from graphmend.analyses.kinds import Kinds
from graphmend.ir import roots
from graphmend.ir.project import Project

_MOST_FILES = 64  # before the memory that the analyses hold is given back


@dataclass(frozen=True, slots=True)
class Analyses:
    """A project and what has been worked out about it so far."""

    project: Project
    kinds: Kinds
    effects: Effects

    @classmethod
    def of(cls, path: Path) -> Analyses:
        """The analyses of the project that the file at `path` belongs to, with nothing in them."""
        project = Project.of(path)
        kinds = Kinds(project)
        return cls(project, kinds, Effects(project, kinds))


class Session:
    """Holds the analyses of the last project asked for."""

    def __init__(self) -> None:
        self._root: Path | None = None
        self._analyses: Analyses | None = None
        self._files = 0

    def analyses(self, path: Path) -> Analyses:
        """The analyses for a file, kept from the file before where both are of one project."""
        root = roots.root_of(path.absolute())
        if self._analyses is None or root != self._root or self._files >= _MOST_FILES:
            self._root, self._analyses, self._files = root, Analyses.of(path), 0
        self._files += 1
        return self._analyses


_current: ContextVar[Session | None] = ContextVar("graphmend_session", default=None)


@contextmanager
def use(session: Session) -> Iterator[None]:
    """Let every file that is mended in the block share the session."""
    token = _current.set(session)
    try:
        yield
    finally:
        _current.reset(token)


def analyses(path: Path) -> Analyses:
    """The analyses for a file: of the session in use, or made for this file alone."""
    session = _current.get()
    return Analyses.of(path) if session is None else session.analyses(path)
