"""Which modules the installed hooks cover, and with which options."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from graphmend.findings import Trap

_TEST_PARTS = frozenset({"test", "tests", "conftest"})
_TEST_LEAF = re.compile(r"test_.*|.*_test")
_OWN = "graphmend"
# Modules that are loaded by path may have names that no import statement can spell.
_NAME = re.compile(r"[\w-]+(\.[\w-]+)*")


@dataclass(frozen=True, slots=True)
class Options:
    """How covered modules are mended."""

    unsafe: bool = False
    plain: bool = False
    trap: Trap = Trap.DEFERRED


@dataclass(frozen=True, eq=False, slots=True)
class Cover:
    """One call of `install`: dotted names, each standing for that module and all below it."""

    names: tuple[str, ...]
    options: Options


def cover(packages: Iterable[str], options: Options) -> Cover:
    """Check the names given to `install`.

    Raises TypeError for a plain string (its letters would be taken as names) and ValueError for
    what is not a dotted name.
    """
    if isinstance(packages, str):
        raise TypeError(f"packages is a list of names: [{packages!r}], not {packages!r}")
    names = tuple(dict.fromkeys(packages))
    for name in names:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"not the dotted name of a package or module: {name!r}")
        if _is_under(name, _OWN):
            raise ValueError("graphmend does not mend itself")
    return Cover(names, options)


def options_for(module: str, covers: Iterable[Cover]) -> Options | None:
    """The options for `module`: the longest name that covers it decides, then the newest hook."""
    name = covering_name(module, covers)
    if name is None:
        return None
    return [c.options for c in covers if name in c.names][-1]


def covering_name(module: str, covers: Iterable[Cover]) -> str | None:
    """The longest installed name that `module` is or lies under."""
    names = (name for c in covers for name in c.names if _is_under(module, name))
    return max(names, key=len, default=None)


def is_test_module(module: str, name: str) -> bool:
    """Whether `module` is test code below the installed `name`.

    Test code says what it expects of the original; it is mended only if named itself.
    """
    parts = module[len(name) + 1 :].split(".")
    return not _TEST_PARTS.isdisjoint(parts) or _TEST_LEAF.fullmatch(parts[-1]) is not None


def disabled() -> bool:
    """Whether GRAPHMEND_DISABLE switches the hook off."""
    return os.environ.get("GRAPHMEND_DISABLE", "") not in ("", "0")


def _is_under(module: str, name: str) -> bool:
    return module == name or module.startswith(name + ".")
