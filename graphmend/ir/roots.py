"""Where a project lies on disk: its root, its files, and which file a module name stands for.

Only the file system is looked at here; nothing is parsed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})
_OUTPUTS = frozenset({"build", "dist"})
_MAX_FILES = 20_000


def base_of(path: Path) -> Path:
    """The folder that the file's module name is relative to: the first without `__init__.py`."""
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        folder = folder.parent
    return folder


def module_name(path: Path) -> str:
    """The dotted name under which the file at `path` is imported."""
    parts = list(path.relative_to(base_of(path)).with_suffix("").parts)
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(parts)


def root_of(path: Path) -> Path:
    """The project that the file at `path` belongs to.

    For an installed package its top-level folder (or the file itself, for a single module), else
    the nearest folder with a project marker, else the folder that the top-level package lies in.
    """
    for folder in path.parents:
        if folder.name in _INSTALLED:
            return folder / path.relative_to(folder).parts[0]
    for folder in path.parents:
        if any((folder / marker).exists() for marker in _MARKERS):
            return folder
    return base_of(path)


def is_marked(root: Path) -> bool:
    """Whether `root` says of itself that it is a project, so that all below it belongs to it."""
    return root.parent.name in _INSTALLED or any((root / m).exists() for m in _MARKERS)


def project_files(root: Path, near: Path) -> list[Path] | None:
    """Every Python file of the project at `root`, sorted; None where there are too many.

    Hidden folders, virtual environments and build outputs are left out. Below a root without a
    project marker only packages are entered: a loose script does not own its whole folder tree.
    `near` is a file of the project and is always part of the answer.
    """
    if root.is_file():
        return [root]
    marked = is_marked(root)
    found = {near}
    for folder, below, names in os.walk(root):
        below[:] = [b for b in below if _is_entered(os.path.join(folder, b), b, marked)]
        found.update(Path(folder, name) for name in names if name.endswith(".py"))
        if len(found) > _MAX_FILES:
            return None
    return sorted(found)


def _is_entered(path: str, name: str, marked: bool) -> bool:
    if name.startswith(".") or name in _SKIPPED or name.endswith(".egg-info"):
        return False
    if os.path.exists(os.path.join(path, "pyvenv.cfg")):
        return False
    return (marked and name not in _OUTPUTS) or os.path.exists(os.path.join(path, "__init__.py"))


def candidates(name: str, base: Path) -> Iterator[Path]:
    """The files that the module `name` may be, below `base`, in the order Python looks."""
    stem = base.joinpath(*name.split("."))
    yield stem / "__init__.py"
    yield stem.with_name(stem.name + ".py")


def import_bases(root: Path, path: Path) -> tuple[Path, ...]:
    """Folders from which the file at `path` can import modules of its own project."""
    bases = [base_of(path)]
    if root.parent.name in _INSTALLED:
        bases.append(root.parent)
    elif root.is_dir():
        bases += [root, root / "src"]
    return tuple(dict.fromkeys(bases))


def search_path() -> tuple[Path, ...]:
    """The existing folders of `sys.path`, for third-party modules."""
    return tuple(Path(entry) for entry in sys.path if entry and os.path.isdir(entry))
