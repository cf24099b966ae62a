"""Where an exception raised by a guard would be caught inside compiled code.

A guard whose exception is caught is control flow: it cannot wait for the end of the graph. The
function itself is searched, then its known callers, theirs, and so on, as far as they are traced
as well: a caller that runs outside of the graph still catches the deferred exception.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graphmend.analyses.enclosing import caught_around, finally_around
from graphmend.analyses.exception_classes import Ancestry, ancestry, builtin_ancestry
from graphmend.analyses.reach import may_be_traced
from graphmend.analyses.scripting import scripted
from graphmend.ir.callers import CallersUnknown, Use
from graphmend.ir.members import decorator_names, is_property
from graphmend.ir.module import Function
from graphmend.ir.project import Project

__all__ = ["CaughtReason", "Catching", "catching", "caught_by", "scripted"]

_MAX_FUNCTIONS = 24
_PROTOCOLS = {
    "__getattr__": "AttributeError",
    "__getattribute__": "AttributeError",
    "__getitem__": "LookupError",
    "__missing__": "LookupError",
    "__contains__": "LookupError",
    "get": "LookupError",
    "__next__": "StopIteration",
    "__anext__": "StopAsyncIteration",
}
_TORCH_CHECKS = {
    "torch._check": "RuntimeError",
    "torch._check_index": "IndexError",
    "torch._check_not_implemented": "NotImplementedError",
    "torch._check_tensor_all": "RuntimeError",
    "torch._check_type": "TypeError",
    "torch._check_value": "ValueError",
}


@dataclass(frozen=True)
class CaughtReason:
    """Where an exception is caught. Lines count from 1."""

    path: Path
    line: int
    function: str
    what: str

    def __str__(self) -> str:
        return f"{self.what} in {self.function} ({self.path.name}:{self.line})"


@dataclass(frozen=True)
class Catching:
    """What is known about an exception's way out of compiled code.

    `caught`: the first place that may catch it. `in_finally`: a `finally` block, in the function
    or a traced caller, that runs when it is raised. `unknown`: why there may be callers that
    were not seen; None where all are known.
    """

    caught: CaughtReason | None
    in_finally: CaughtReason | None
    unknown: str | None


_Answers = dict[tuple[Function, Ancestry], Catching]


def caught_by(
    project: Project,
    function: Function,
    exception: ast.expr | None,
    statement: ast.stmt | None = None,
) -> CaughtReason | None:
    """Where the exception that `statement` of `function` raises would be caught, if anywhere.

    `exception` is the expression that is raised; None where it is not known, or where
    `statement` is a call of a function that checks and raises.
    """
    return catching(project, function, exception, statement).caught


def catching(
    project: Project,
    function: Function,
    exception: ast.expr | None,
    statement: ast.stmt | None = None,
) -> Catching:
    """As `caught_by`, with `finally` blocks passed and whether all callers are known."""
    found: list[Catching] = []
    for raised in _raised(project, function, exception, statement):
        own = _here(project, function, raised, statement) if statement is not None else None
        around = own if own and own.caught else _callers(project, function, raised)
        in_finally = (own and own.in_finally) or around.in_finally
        found.append(Catching(around.caught, in_finally, around.unknown))
    caught = next((c.caught for c in found if c.caught), None)
    return Catching(caught, found[0].in_finally, found[0].unknown)


# -- what is raised ------------------------------------------------------------------------


def _raised(
    project: Project, function: Function, exception: ast.expr | None, statement: ast.stmt | None
) -> list[Ancestry]:
    if exception is not None:
        return [ancestry(project, exception, function)]
    match statement:
        case ast.Assert():
            return [builtin_ancestry("builtins.AssertionError")]
        case ast.Expr(value=ast.Call() as call):
            name = project.operator(call, function)
            if name in _TORCH_CHECKS:
                return [builtin_ancestry(f"builtins.{_TORCH_CHECKS[name]}")]
            callee = project.callee(call, function)
            if isinstance(callee, Function):
                return list(dict.fromkeys(_raised_in(project, callee))) or [None]
    return [None]


def _raised_in(project: Project, callee: Function) -> Iterator[Ancestry]:
    """The exceptions that the body of a checking function raises itself."""
    for node in callee.nodes:
        if isinstance(node, ast.Raise):
            yield ancestry(project, node.exc, callee)
        elif isinstance(node, ast.Assert):
            yield builtin_ancestry("builtins.AssertionError")
        elif isinstance(node, ast.Call) and project.callee(node, callee) is not None:
            if not isinstance(callee.module.parent(node), ast.Raise):
                yield None


# -- where it is caught --------------------------------------------------------------------


def _here(project: Project, function: Function, raised: Ancestry, node: ast.AST) -> Catching:
    """What stands around `node` in `function` itself."""
    caught = caught_around(project, node, raised, function)
    block = finally_around(node, function)
    return Catching(
        _reason(function, *caught) if caught is not None else None,
        _reason(function, block, "a `finally` block runs") if block is not None else None,
        None,
    )


def _reason(function: Function, node: ast.AST, what: str) -> CaughtReason:
    line = getattr(node, "lineno", 1)
    return CaughtReason(function.module.path, line, function.qualname, what)


def _callers(project: Project, function: Function, raised: Ancestry) -> Catching:
    """What catches an exception that leaves `function`."""
    answers: _Answers = project.remembered("handlers", dict)
    key = (function, raised)
    if key not in answers:
        answers[key] = _search(project, function, raised)
    return answers[key]


def _search(project: Project, function: Function, raised: Ancestry) -> Catching:
    unknown: str | None = None
    in_finally: CaughtReason | None = None
    seen, work = {function}, [function]
    while work:
        current = work.pop(0)
        protocol = _protocol(current, raised)
        if protocol is not None:
            return Catching(protocol, in_finally, unknown)
        sites, doubt = _sites(project, current)
        unknown = unknown or doubt
        for caller, node in sites:
            here = _here(project, caller, raised, node)
            if here.caught is None and here.in_finally is None and caller in seen:
                continue
            if not may_be_traced(project, caller):
                continue
            if here.caught is not None:
                return Catching(here.caught, in_finally, unknown)
            in_finally = in_finally or here.in_finally
            if caller not in seen and len(seen) < _MAX_FUNCTIONS:
                seen.add(caller)
                work.append(caller)
            elif caller not in seen:
                unknown = unknown or "there are too many callers of callers"
    return Catching(None, in_finally, unknown)


def _sites(
    project: Project, function: Function
) -> tuple[list[tuple[Function, ast.AST]], str | None]:
    """The places that call the function or may call it, and why there may be more."""
    places: list[tuple[Function, ast.AST]] = []
    for wrapper in project.graph.decorated(function).wrappers:
        places += [(wrapper, call) for call in _calls_of_wrapped(wrapper)]
    doubt = None if project.graph.decorated(function).complete else "a decorator is not known"
    found = project.callers(function)
    if isinstance(found, CallersUnknown):
        return places, found.reason
    for site in found:
        if site.use is Use.REFERENCE:
            doubt = doubt or f"{function.name} is handed on in {site.module.name}"
        if site.function is not None and site.use is not Use.DECORATOR:
            places.append((site.function, site.call))
    if doubt is None and _is_public(function):
        doubt = f"{function.name} is public: code outside the project may call it"
    return places, doubt


def _calls_of_wrapped(wrapper: Function) -> Iterator[ast.Call]:
    """The calls in a decorator's wrapper that may run the wrapped function."""
    given = wrapper.free_names()
    for node in wrapper.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in given:
                yield node


def _is_public(function: Function) -> bool:
    return function.outer is None and not function.name.startswith("_")


def _protocol(function: Function, raised: Ancestry) -> CaughtReason | None:
    """Methods from which the language takes some exceptions as answers."""
    expected = _PROTOCOLS.get(function.name) if function.owner is not None else None
    if function.owner is not None and is_property(function):
        expected = "AttributeError"
    if expected is None and _is_generator(function):
        expected = "StopIteration"
    if expected is None:
        return None
    if raised is None or f"builtins.{expected}" in raised:
        what = f"{expected} from `{function.name}` is an answer to the language"
        return _reason(function, function.node, what)
    return None


def _is_generator(function: Function) -> bool:
    if "contextlib.contextmanager" in decorator_names(function):
        return False
    return any(isinstance(n, ast.Yield | ast.YieldFrom) for n in function.nodes)
