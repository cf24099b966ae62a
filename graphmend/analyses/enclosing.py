"""What stands around a place inside its function and would catch an exception raised there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from graphmend.analyses.exception_classes import Ancestry, catches
from graphmend.analyses.with_blocks import swallows
from graphmend.ir.module import Function
from graphmend.ir.project import Project


def _around(node: ast.AST, function: Function) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The nodes around `node` up to the function, each with the child that holds `node`."""
    child = node
    for parent in function.module.ancestors(node):
        if parent is function.node:
            return
        yield parent, child
        child = parent


def caught_around(
    project: Project, node: ast.AST, raised: Ancestry, function: Function
) -> tuple[ast.AST, str] | None:
    """The innermost handler or `with` around `node` that may catch it, and how."""
    for parent, child in _around(node, function):
        match parent:
            case ast.Try() | ast.TryStar() if child in parent.body:
                for handler in parent.handlers:
                    if handler.type is None:
                        catching, what = True, "except:"
                    else:
                        catching = catches(project, handler.type, raised, function)
                        what = f"except {ast.unparse(handler.type)}"
                    if catching:
                        if _only_raises_again(handler):
                            break
                        return handler, f"`{what}` catches it"
            case ast.With() | ast.AsyncWith() if child in parent.body:
                for item in parent.items:
                    reason = swallows(project, item.context_expr, raised, function)
                    if reason is not None:
                        return parent, reason
    return None


def finally_around(node: ast.AST, function: Function) -> ast.Try | ast.TryStar | None:
    """The innermost `try` around `node` whose `finally` runs when `node` raises."""
    for parent, child in _around(node, function):
        if isinstance(parent, ast.Try | ast.TryStar):
            if parent.finalbody and child not in parent.finalbody:
                return parent
    return None


def _only_raises_again(handler: ast.ExceptHandler) -> bool:
    match handler.body:
        case [ast.Raise(exc=None)]:
            return True
        case [ast.Raise(exc=ast.Name(id=name), cause=None)]:
            return name == handler.name
    return False
