"""A cheap look at a file: can it hold a break site at all? Errs on the side of yes."""

from __future__ import annotations

import ast
import re

from graphmend.ir.scopes import children
from graphmend.ir.trees import looked_at

_TORCH = re.compile(r"torch|\bnn\b")
_FUNCTION = re.compile(r"\b(?:def|lambda)\b")
_BRANCHES = (ast.If, ast.IfExp, ast.While, ast.BoolOp, ast.Assert, ast.Raise, ast.Match)
_READS = (ast.Subscript, ast.FormattedValue)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def mentions_torch(text: str) -> bool:
    """Whether the text names torch, or an `nn` that could be its."""
    return _TORCH.search(text) is not None


def has_candidates(text: str) -> bool:
    """Whether the text holds a construct that can break a graph; never False where it may.

    Only code of functions is ever compiled. There it takes a branch, a check, a subscript
    (a mask, or a tensor as index), a formatted value or a call to break a graph; calls of the
    base class's constructor do not. Text that does not parse is a candidate, so that its
    error is reported.
    """
    try:
        tree = looked_at(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return _FUNCTION.search(text) is not None and _function_has_candidate(tree)


def _function_has_candidate(tree: ast.Module) -> bool:
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, inside = stack.pop()
        if inside and _is_candidate(node):
            return True
        inside = inside or isinstance(node, _FUNCTIONS)
        stack.extend((child, inside) for child in children(node))
    return False


def _is_candidate(node: ast.AST) -> bool:
    match node:
        case ast.Call():
            return not _is_base_constructor(node)
        case ast.UnaryOp():
            return isinstance(node.op, ast.Not)
        case ast.Compare():
            return len(node.ops) > 1 or isinstance(node.ops[0], ast.In | ast.NotIn)
        case ast.comprehension():
            return bool(node.ifs)
    return isinstance(node, _BRANCHES + _READS)


def _is_base_constructor(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr == "__init__":
        function = function.value.func if isinstance(function.value, ast.Call) else function
    return isinstance(function, ast.Name) and function.id == "super"
