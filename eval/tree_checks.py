"""What must hold of a tree that was mended, looked at from outside of graphmend."""

from __future__ import annotations

import io
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

Texts = dict[str, bytes]


def texts(package: Path) -> Texts:
    """The content of every Python file below `package`, by its path from there."""
    return {
        path.relative_to(package).as_posix(): path.read_bytes()
        for path in sorted(package.rglob("*.py"))
    }


def changed(before: Texts, after: Texts) -> list[str]:
    """The files whose content is another, or that are in one of the two only."""
    return sorted(path for path in before | after if before.get(path) != after.get(path))


def not_compiling(files: Texts, paths: Iterable[str]) -> list[str]:
    """Those of `paths` that `compile` does not take, each with what it says."""
    found = []
    for path in paths:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(files.get(path, b""), path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            found.append(f"{path}: {error}")
    return found


def lost_comments(before: Texts, after: Texts, paths: Iterable[str]) -> list[str]:
    """The comments that a file had more often before than it has now, each with its file."""
    found = []
    for path in paths:
        lost = _comments(before.get(path, b"")) - _comments(after.get(path, b""))
        found += [f"{path}: {comment}" for comment in sorted(lost.elements())]
    return found


def _comments(data: bytes) -> Counter[str]:
    counted: Counter[str] = Counter()
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type == tokenize.COMMENT:
                counted[token.string] += 1
    except (tokenize.TokenError, SyntaxError):
        pass  # what was read so far counts; that the text is not Python is said elsewhere
    return counted
