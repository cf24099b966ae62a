"""What is true of every text that graphmend writes, checked on every text it writes."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections import Counter


class SelfCheckError(Exception):
    """A rewrite made a text other than was meant; it must not be written."""


def self_check(before: str, after: str, filename: str) -> None:
    """Raise `SelfCheckError` unless `after` compiles and holds every comment of `before`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(ast.parse(after, filename), filename, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise SelfCheckError(f"the mended text does not compile: {error}") from error
    if lost := _comments(before) - _comments(after):
        raise SelfCheckError(f"the mended text lacks the comment {next(iter(lost))!r}")


def _comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text, newline="").readline)
    return Counter(t.string for t in tokens if t.type == tokenize.COMMENT)
