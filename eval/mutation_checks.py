"""The legality checks of a package, found in its source: each place that refuses, with its reason.

A check is a statement: one that raises `Refused` or `NotDeferrable`, one that starts an analysis
over without a call, or a return of a reason. A function that takes a site or a branch and returns
a reason is a check as a whole where its reasons are not all in one such return.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

RAISED = ("Refused", "NotDeferrable")
_STARTS_OVER = "start_over"
_REASON_TYPE = "str | None"
_ASKED_OF = (["Branch"], ["Site", "Facts"])
_WHOLE = "whole function"

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, order=True)
class Check:
    """A check by its dotted module, the qualified name of its function and its reason.

    `number` counts the checks of one function that give the same reason, from 1.
    """

    module: str
    function: str
    reason: str
    number: int = 1

    def __str__(self) -> str:
        again = f" ({self.number})" if self.number > 1 else ""
        return f"{self.module}:{self.function}: {self.reason}{again}"


def checks_in(root: Path, packages: Iterable[str]) -> list[Check]:
    """The checks of the modules directly in each package, packages being found below `root`."""
    return [
        check
        for package in packages
        for path in sorted((root / package.replace(".", "/")).glob("*.py"))
        for check, _ in nodes(ast.parse(path.read_bytes()), f"{package}.{path.stem}")
    ]


def nodes(tree: ast.Module, module: str) -> Iterator[tuple[Check, ast.stmt]]:
    """The checks of a module with their statements; of a whole check, the function."""
    counts: dict[tuple[str, str], int] = {}
    for function, node in _reasons(tree):
        name, reason = function[0], node[1]
        counts[name, reason] = counts.get((name, reason), 0) + 1
        yield Check(module, name, reason, counts[name, reason]), node[0]


def _reasons(tree: ast.Module) -> Iterator[tuple[tuple[str, FunctionNode], tuple[ast.stmt, str]]]:
    for name, function in _functions(tree, ""):
        found = list(_reasons_of(function))
        returned = [node for node, _ in found if isinstance(node, ast.Return)]
        if _is_whole_check(function) and len(returned) != 1:
            yield (name, function), (function, _WHOLE)
        yield from (((name, function), pair) for pair in found)


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, FunctionNode]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FunctionNode):
            yield prefix + child.name, child
        inner = (
            f"{prefix}{child.name}." if isinstance(child, FunctionNode | ast.ClassDef) else prefix
        )
        yield from _functions(child, inner)


def own_statements(node: ast.AST) -> Iterator[tuple[ast.stmt, bool]]:
    """The statements of a function but for those of inner functions, and whether each handles an
    exception."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FunctionNode | ast.ClassDef):
            continue
        handles = isinstance(child, ast.ExceptHandler)
        if isinstance(child, ast.stmt):
            yield child, False
        yield from ((inner, handles or handled) for inner, handled in own_statements(child))


def _reasons_of(function: FunctionNode) -> Iterator[tuple[ast.stmt, str]]:
    gives_reasons = function.returns is not None and ast.unparse(function.returns) == _REASON_TYPE
    for statement, handled in own_statements(function):
        match statement:
            case ast.Raise(exc=ast.Call(func=called, args=[reason, *_])) if _last(called) in RAISED:
                yield statement, _text(reason)
            case ast.Expr(value=ast.Call(func=called, args=args)) if not handled:
                if _last(called) == _STARTS_OVER and args:
                    yield statement, _text(args[-1])
            case ast.Return(value=ast.expr() as value) if gives_reasons and _is_sentence(value):
                yield statement, _text(value)


def _is_whole_check(function: FunctionNode) -> bool:
    types = [ast.unparse(a.annotation) for a in function.args.args if a.annotation is not None]
    returns = "" if function.returns is None else ast.unparse(function.returns)
    return types in _ASKED_OF and returns == _REASON_TYPE


def _last(called: ast.expr) -> str:
    return ast.unparse(called).rpartition(".")[2]


def _is_sentence(value: ast.expr) -> bool:
    """Whether a returned text has words; names and code are returned, too."""
    return isinstance(value, ast.Constant | ast.JoinedStr | ast.Call) and " " in "".join(
        part.value
        for part in ast.walk(value)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )


def _text(reason: ast.expr) -> str:
    """The text of a reason, `..` for what is filled in; else its expression."""
    match reason:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(
                str(part.value) if isinstance(part, ast.Constant) else ".." for part in parts
            )
        case ast.Call(args=[ast.Constant() | ast.JoinedStr() as inner, *_]):
            return _text(inner)
    return f"<{ast.unparse(reason)}>"
