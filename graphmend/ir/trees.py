"""Parsing, once a file: the first look at a text leaves its tree to whoever parses it next."""

from __future__ import annotations

import ast
import warnings

_left: dict[str, ast.Module] = {}  # at most one; its operations are atomic


def looked_at(text: str) -> ast.Module:
    """The tree of a text, only to look at: it may become part of a module at any time.

    Raises what `ast.parse` raises.
    """
    tree = _left.get(text)
    if tree is None:
        tree = _parse(text, "<unknown>")
        _left.clear()
        _left[text] = tree
    return tree


def parsed(text: str, filename: str) -> ast.Module:
    """A tree of the text that nobody else has: two files of one text have two trees.

    Raises what `ast.parse` raises.
    """
    return _left.pop(text, None) or _parse(text, filename)


def _parse(text: str, filename: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes and the like are not our business
        return ast.parse(text, filename)
