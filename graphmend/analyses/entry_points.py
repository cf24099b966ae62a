"""Where a module hands functions and models to torch.compile by name."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from graphmend.ir.module import Function, Module
from graphmend.ir.project import Project
from graphmend.ir.values import ClassValue, External, FunctionValue, Instance, Many, Vals

_COMPILERS = frozenset(
    {
        "torch.compile",
        "torch._dynamo.explain",
        "torch._dynamo.export",
        "torch._dynamo.optimize",
        "torch._dynamo.optimize_assert",
        "torch.export.export",
        "torch.export.export_for_training",
        "torch.export.draft_export",
    }
)
_LAST = frozenset(name.rpartition(".")[2] for name in _COMPILERS)
_IN_TEXT = re.compile(r"compile|_dynamo|\bexport\b")


@dataclass
class EntryPoints:
    """What a module compiles: functions, with where; `used` says that it compiles anything."""

    functions: dict[Function, str] = field(default_factory=dict)
    used: bool = False


def entry_points(project: Project, module: Module) -> EntryPoints:
    """Every function that code in `module` hands to torch.compile or torch.export."""
    found = EntryPoints()
    if not _IN_TEXT.search(module.source.text):
        return found
    calls = [node for node in module.nodes if isinstance(node, ast.Call)]
    if not _names_compiler(module):
        for call in calls:
            _compiled_object(project, module, call, found)
        return found
    for function in module.functions.values():
        for decorator in function.decorators:
            ways = [decorator, *([decorator.func] if isinstance(decorator, ast.Call) else [])]
            if any(_is_compiler(project, way, function.outer, module) for way in ways):
                found.used = True
                found.functions[function] = f"compiled by its decorator, line {decorator.lineno}"
    for call in calls:
        _call(project, module, call, found)
        _compiled_object(project, module, call, found)
    return found


def _names_compiler(module: Module) -> bool:
    """Whether any expression of the module is torch.compile or its like, whatever for."""
    if any(
        node.attr in _LAST and module.qualified(node, None) in _COMPILERS
        for node in module.nodes
        if isinstance(node, ast.Attribute)
    ):
        return True
    # A plain name is one where it is imported as such.
    return any(
        alias.name.rpartition(".")[2] in _LAST
        for alias in module.nodes
        if isinstance(alias, ast.alias)
    ) and any(
        module.qualified(node, None) in _COMPILERS
        for node in module.nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )


def _call(project: Project, module: Module, call: ast.Call, found: EntryPoints) -> None:
    around = module.function_of(call)
    target: ast.expr | None = None
    if _is_compiler(project, call.func, around, module):
        found.used = True
        target = call.args[0] if call.args else _keyword(call, "model")
    elif isinstance(call.func, ast.Call) and call.args:
        if _is_compiler(project, call.func.func, around, module):
            target = call.args[0]
    if target is not None:
        values = project.graph.values.of(target, around, module)
        _compiled(project, values, call.lineno, found)


def _compiled_object(project: Project, module: Module, call: ast.Call, found: EntryPoints) -> None:
    """`model.compile()` of a torch.nn.Module."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "compile":
        around = module.function_of(call)
        if module.qualified(call.func, around) is None or not call.args:
            base = project.graph.values.of(call.func.value, around, module)
            if any(isinstance(v, Instance) and project.class_is_module(v.info) for v in base):
                found.used = True
                _compiled(project, base, call.lineno, found)


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((k.value for k in call.keywords if k.arg == name), None)


def _is_compiler(
    project: Project, called: ast.expr, around: Function | None, module: Module
) -> bool:
    name = module.qualified(called, around)
    if name is not None and name in _COMPILERS:
        return True
    if not isinstance(called, ast.Name | ast.Attribute | ast.Call):
        return False
    if isinstance(called, ast.Call) and not (called.args or called.keywords):
        return False
    values = project.graph.values.of(called, around, module)
    return any(isinstance(v, External) and v.name in _COMPILERS for v in values)


def _compiled(project: Project, values: Vals, line: int, found: EntryPoints) -> None:
    for value in values:
        match value:
            case FunctionValue(function):
                targets = [*project.graph.decorated(function).wrappers, function]
            case Instance() | Many():
                run = project.graph.run_by(frozenset({value})).functions
                targets = [f for f in run if isinstance(f, Function)]
            case ClassValue(info):
                method = project.member(info, "forward") or project.member(info, "__call__")
                targets = [method] if method is not None else []
            case _:
                targets = []
        for target in targets:
            found.functions.setdefault(target, f"compiled on line {line}")
