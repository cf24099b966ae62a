"""Python files to test the front end on: the standard library, and modules made from text."""

from __future__ import annotations

import sysconfig
import textwrap
from pathlib import Path

from graphmend.ir.module import Function, Module
from graphmend.ir.source import Source

STDLIB = Path(sysconfig.get_path("stdlib"))
# Files that are wrong on purpose, and third-party code that may sit below the library.
_EXCLUDED = ("bad_", "badsyntax", "site-packages", "lib2to3/tests/data", "dist-packages")


def standard_library(every: int = 1) -> list[Path]:
    """Each `every`th file of the standard library, in a fixed order."""
    files = [p for p in sorted(STDLIB.rglob("*.py")) if not any(x in str(p) for x in _EXCLUDED)]
    return files[::every]


def module(text: str, name: str = "pkg.mod", path: str = "pkg/mod.py") -> Module:
    """A module made from (dedented) text."""
    return Module.parse(Source(Path(path), textwrap.dedent(text)), name)


def function(text: str, name: str = "f") -> Function:
    """One function of a module made from text."""
    return module(text).functions[name]
