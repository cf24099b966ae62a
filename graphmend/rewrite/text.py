"""What the tokens of a text say: its comments, its indentation, where its strings go on."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence

_LINE_LENGTH = 88


def comments(text: str) -> Counter[str]:
    """The comments in a piece of code, which need not be whole."""
    return Counter(token.string for token in _tokens(text) if token.type == tokenize.COMMENT)


def lines_inside_strings(text: str) -> frozenset[int]:
    """The lines, from 1, that begin inside a string: their indentation belongs to its value."""
    found: set[int] = set()
    opened: list[int] = []
    start_type = getattr(tokenize, "FSTRING_START", None)  # from Python 3.12 on
    end_type = getattr(tokenize, "FSTRING_END", None)
    for token in _tokens(text):
        if token.type == tokenize.STRING:
            found.update(range(token.start[0] + 1, token.end[0] + 1))
        elif token.type == start_type:
            opened.append(token.start[0])
        elif token.type == end_type:
            found.update(range(opened.pop() + 1, token.end[0] + 1))
    return frozenset(found)


def indent_of(text: str, offset: int) -> str:
    """The white space that the line of `offset` starts with."""
    start = text.rfind("\n", 0, offset) + 1
    match = re.compile(r"[ \t\f]*").match(text, start)
    return match[0] if match else ""


def line_end(text: str, offset: int) -> int:
    """The end of the line of `offset`, in front of its line break."""
    match = re.compile(r"[^\r\n]*").match(text, offset)
    return match.end() if match else offset


def argument_list(head: str, arguments: Sequence[str], indent: str, step: str, newline: str) -> str:
    """The parenthesised arguments of a call behind `head`, on a line each where they need it."""
    line = f"({', '.join(arguments)})"
    if len(head) + len(line) <= _LINE_LENGTH and "\n" not in line or not arguments:
        return line
    rows = "".join(f"{indent}{step}{argument},{newline}" for argument in arguments)
    return f"({newline}{rows}{indent})"


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError):
        return
