"""Whether a `with` block may swallow an exception raised in it."""

from __future__ import annotations

import ast

from graphmend.analyses.exception_classes import Ancestry, catches
from graphmend.ir.bindings import How
from graphmend.ir.members import decorator_names
from graphmend.ir.module import Function
from graphmend.ir.project import Project
from graphmend.ir.values import ExternalInstance, FunctionValue, Instance

_CATCHING = frozenset({"contextlib.suppress", "pytest.raises", "pytest.warns"})
_CATCHING_METHODS = frozenset({"assertRaises", "assertRaisesRegex"})
_LETTING_THROUGH = frozenset(
    {
        "builtins.open",
        "builtins.memoryview",
        "contextlib.closing",
        "contextlib.nullcontext",
        "contextlib.redirect_stderr",
        "contextlib.redirect_stdout",
        "decimal.localcontext",
        "numpy.errstate",
        "warnings.catch_warnings",
    }
)
_MAKERS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})


def swallows(
    project: Project, context: ast.expr, raised: Ancestry, function: Function, hops: int = 0
) -> str | None:
    """Why `with context:` in `function` may swallow what is raised; None where it does not."""
    match context:
        case ast.IfExp(body=one, orelse=two):
            return swallows(project, one, raised, function, hops) or swallows(
                project, two, raised, function, hops
            )
        case ast.Name() if function.is_local(context.id) and hops < 4:
            return _local(project, context, raised, function, hops)
        case ast.Call():
            return _call(project, context, raised, function)
    return _object(project, context, function)


def _local(
    project: Project, name: ast.Name, raised: Ancestry, function: Function, hops: int
) -> str | None:
    bindings = project.graph.values.bindings(function).get(name.id, [])
    for binding in bindings:
        if binding.how is not How.VALUE or binding.value is None:
            return _unknown(name)
        reason = swallows(project, binding.value, raised, function, hops + 1)
        if reason is not None:
            return reason
    return None if bindings else _unknown(name)


def _call(project: Project, call: ast.Call, raised: Ancestry, function: Function) -> str | None:
    module = function.module
    if isinstance(call.func, ast.Attribute) and call.func.attr in _CATCHING_METHODS:
        return f"`{ast.unparse(call.func)}` catches it"
    qualified = module.qualified(call.func, function)
    found = project.follow(qualified, module) if qualified is not None else None
    if found in _CATCHING:
        if any(catches(project, a, raised, function) for a in call.args):
            return f"`{ast.unparse(call)}` swallows it"
        return None
    if isinstance(found, str):
        lets = found in _LETTING_THROUGH or found.startswith("torch.")
        return None if lets else _unknown(call)
    for value in project.graph.values.of(call.func, function, module):
        if isinstance(value, FunctionValue) and not _MAKERS.isdisjoint(
            decorator_names(value.function)
        ):
            return _generator(project, value.function, raised)
    return _object(project, call, function)


def _generator(project: Project, maker: Function, raised: Ancestry) -> str | None:
    """A context manager written as a generator: the handlers around its `yield`."""
    from graphmend.analyses.enclosing import caught_around

    for node in maker.nodes:
        if isinstance(node, ast.Yield):
            caught = caught_around(project, node, raised, maker)
            if caught is not None:
                return f"`{maker.name}` catches it"
    return None


def _object(project: Project, context: ast.expr, function: Function) -> str | None:
    values = project.graph.values.of(context, function, function.module)
    for value in values:
        match value:
            case Instance(info):
                method = project.member(info, "__exit__")
                if method is None or _may_return_true(method):
                    return _unknown(context)
            case ExternalInstance(name) if name in _LETTING_THROUGH or name.startswith("torch."):
                continue
            case _:
                return _unknown(context)
    return None if values else _unknown(context)


def _may_return_true(method: Function) -> bool:
    for node in method.nodes:
        if isinstance(node, ast.Return) and node.value is not None:
            if not (isinstance(node.value, ast.Constant) and not node.value.value):
                return True
    return False


def _unknown(context: ast.expr) -> str:
    return f"`with {ast.unparse(context)}` may swallow it"
