"""Which files a run reads: from the paths on the command line to a list of files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field

from graphmend.report.outcome import Problem

SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages"})
# A folder of these names holds build products, unless it is a package itself.
BUILD_FOLDERS = frozenset({"build", "dist", "_build"})


@dataclass(slots=True)
class Found:
    """Files in a fixed order, each once, what could not be read, and what was left out."""

    files: list[str] = field(default_factory=list)
    errors: list[Problem] = field(default_factory=list)
    notices: list[Problem] = field(default_factory=list)


def find(paths: Iterable[str]) -> Found:
    """The files that `paths` name (of any suffix) and the `.py` files in the folders they name.

    Never raises for what it meets on disk: that ends up in `errors` and `notices`. Paths stay as
    given, relative ones relative.
    """
    found = Found()
    for path in paths:
        _add(path, found)
    _drop_duplicates(found)
    return found


def _add(path: str, found: Found) -> None:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        found.errors.append(Problem(path, reason(error)))
        return
    if stat.S_ISDIR(mode):
        before = len(found.files) + len(found.errors)
        _walk(path, found)
        if len(found.files) + len(found.errors) == before:
            found.notices.append(Problem(path, "no Python files in this folder"))
    elif stat.S_ISREG(mode):
        found.files.append(path)
    else:
        found.errors.append(Problem(path, "not a regular file"))


def _walk(top: str, found: Found) -> None:
    """Depth first, by name, so that the order does not depend on the file system."""
    root = os.path.realpath(top)
    pending = [top]
    while pending:
        path = pending.pop()
        try:
            if path != top and _is_left_out(path):
                continue
            with os.scandir(path) as entries:
                children = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            found.errors.append(Problem(path, reason(error)))
            continue
        folders = []
        for child in children:
            shown = child.name if path == "." else child.path
            if child.is_symlink():
                _add_link(shown, root, found)
            elif child.is_dir(follow_symlinks=False):
                folders.append(shown)
            elif child.name.endswith(".py") and child.is_file(follow_symlinks=False):
                found.files.append(shown)
        pending.extend(reversed(folders))


def _is_left_out(folder: str) -> bool:
    name = os.path.basename(folder)
    if name.startswith(".") or name in SKIPPED_FOLDERS:
        return True
    if os.path.exists(os.path.join(folder, "pyvenv.cfg")):
        return True
    return name in BUILD_FOLDERS and not os.path.exists(os.path.join(folder, "__init__.py"))


def _add_link(path: str, root: str, found: Found) -> None:
    """A link to a file in the tree stands for that file; a link to a folder in the tree needs no
    following, for the walk comes there anyway; a link out of the tree is left out and said so."""
    try:
        target = os.path.realpath(path, strict=True)
        is_folder = os.path.isdir(target)
    except OSError as error:
        if path.endswith(".py"):
            found.errors.append(Problem(path, f"broken link: {reason(error)}"))
        return
    if not (is_folder or path.endswith(".py")):
        return
    if os.path.commonpath([target, root]) != root:
        found.notices.append(
            Problem(path, f"not followed: the link leads out of the tree to {target}")
        )
    elif not is_folder:
        found.files.append(path)


def _drop_duplicates(found: Found) -> None:
    """One entry a file on disk; the first that is no link wins, so that links do not hide names."""
    real = {path: os.path.realpath(path) for path in found.files}
    kept: dict[str, str] = {}
    for path in sorted(real, key=os.path.islink):
        kept.setdefault(real[path], path)
    wanted = set(kept.values())
    found.files = [path for path in dict.fromkeys(found.files) if path in wanted]


def reason(error: Exception) -> str:
    """What went wrong, in a few words and without the path, which the caller has."""
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error)
