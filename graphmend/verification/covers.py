"""Which modules are mended: those of the packages that a program is made of."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from graphmend.verification.references import Reference
from graphmend.verification.spec import Spec

# The name of the main script in a process that it did not start.
MAIN = "__mp_main__"
_FOREIGN = frozenset({"torch", "graphmend", "functools", "__main__"})


def names(spec: Spec, parts: Iterable[str]) -> tuple[str, ...]:
    """The names for the import hook; `parts` are modules of the program's classes and functions.

    Each stands for the package it lies in. A file's neighbours belong to its program, too, as they
    do for a script.
    """
    if spec.packages is not None:
        return spec.packages
    found = [part for part in parts if not _is_foreign(part)]
    if spec.target is not None:
        found.append(Reference.parse(spec.target).module)
    packages = [name.partition(".")[0] for name in found]
    chosen = dict.fromkeys([*packages, *found, *_neighbours(spec)])
    return tuple(name for name in chosen if not _is_foreign(name))


def _is_foreign(module: str) -> bool:
    top = module.partition(".")[0]
    return top in _FOREIGN or top in sys.stdlib_module_names


def _neighbours(spec: Spec) -> list[str]:
    folder = None if spec.target is None else Reference.parse(spec.target).folder
    if folder is None:
        return []
    scripts = [path.stem for path in folder.glob("*.py")]
    packages = [path.parent.name for path in folder.glob("*/__init__.py")]
    return [name for name in sorted(scripts + packages) if name.isidentifier()]
