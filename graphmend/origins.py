"""Where a text says that it comes from: files that are generated, definitions that are copies."""

from __future__ import annotations

import ast
import re

from graphmend.ir.module import Function, Module

_GENERATED = re.compile(
    r"^#.*\bauto(?:matically|-)?\s*generated\s+(?:from|by)\s+(\S+)", re.IGNORECASE | re.MULTILINE
)
_HEAD = 2000  # characters in which a file says that it is generated
_COPIED = re.compile(r"\s*#\s*copied from\s+([\w.]+)", re.IGNORECASE)


def generated_from(module: Module) -> str | None:
    """What a file says that it is generated from; None for other files."""
    match = _GENERATED.search(module.source.text, 0, _HEAD)
    return match[1].rstrip(".,;") if match else None


def copied_from(function: Function) -> str | None:
    """What the comments above a function, or a class around it, say that it is a copy of.

    A tool may overwrite such a copy from its source, and the fix with it.
    """
    module = function.module
    for node in (function.node, *module.ancestors(function.node)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            source = _comment_above(first, module)
            if source is not None:
                return source
    return None


def _comment_above(line: int, module: Module) -> str | None:
    starts = module.line_offsets
    for above in range(line - 1, 0, -1):
        text = module.source.text[starts[above - 1] : starts[above]]
        if not text.lstrip().startswith("#"):
            return None
        if match := _COPIED.match(text):
            return match[1].rstrip(".")
    return None
