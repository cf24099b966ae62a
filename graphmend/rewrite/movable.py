"""What means something else, or leads elsewhere, in a function of its own."""

from __future__ import annotations

import ast
from collections.abc import Container

from graphmend.ir.module import Function
from graphmend.ir.scopes import walk
from graphmend.rewrite.refusal import Refused
from graphmend.rewrite.variables import bound_in_expression

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FRAME_READERS = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})


def require_movable(
    part: ast.stmt | ast.expr, function: Function, moved: Container[ast.AST] = ()
) -> None:
    """Refuse what means something else, or leads elsewhere, in a function of its own.

    What has `moved` out by then may define functions.
    """
    if isinstance(part, ast.expr) and bound_in_expression(part):
        raise Refused("it binds a name inside an expression")
    for node in walk(part):
        match node:
            case ast.Await() | ast.Yield() | ast.YieldFrom():
                raise Refused("it awaits or yields on one side")
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda() if (
                node not in moved
            ):
                raise Refused("it defines a function or class on one side")
            case ast.Try() | ast.TryStar():
                raise Refused("it handles exceptions on one side")
            case ast.Import() | ast.ImportFrom() | ast.Match() | ast.Delete():
                what = type(node).__name__.lower()
                raise Refused(f"it holds a statement on one side that cannot move: {what}")
            case ast.Global() | ast.Nonlocal():
                raise Refused("it declares names of another scope on one side")
            case ast.Raise(exc=None):
                raise Refused("it re-raises the exception being handled")
            case ast.Name(id=name) if name in _FRAME_READERS and not function.is_local(name):
                raise Refused(f"`{name}` would see another frame")
            case ast.Name(id=name, ctx=ast.Store()) if _is_global(node, function):
                raise Refused(f"`{name}` belongs to another scope")
            case ast.Name(id="__class__"):
                raise Refused("`__class__` means the class only inside its methods")
    if _jumps_out(part, inside=False):
        raise Refused("it leaves a loop that goes on around it")


def _is_global(name: ast.Name, function: Function) -> bool:
    """Whether a name that the function binds is one of the module, by a declaration."""
    owner = function.module.scopes.name_scopes[name].owner(name.id)
    return owner is None or owner.parent is None


def _jumps_out(node: ast.AST, inside: bool) -> bool:
    """Whether a break or continue leads out of `node`."""
    if isinstance(node, ast.Break | ast.Continue):
        return not inside
    inside = inside or isinstance(node, _LOOPS)
    return any(_jumps_out(child, inside) for child in ast.iter_child_nodes(node))


def frame_reader(function: Function) -> str | None:
    """What in the function looks at its local names, if anything does."""
    for node in function.nodes:
        match node:
            case ast.Call(func=ast.Name(id="locals" | "vars" | "dir" as name), args=[]):
                pass
            case ast.Call(func=ast.Name(id="eval" | "exec" as name)):
                pass
            case _:
                continue
        if not function.is_local(name):
            return f"{name}(..)"
    return None
