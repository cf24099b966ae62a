"""Code that is also compiled by TorchScript, which reads the source itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from graphmend.ir.members import decorator_names
from graphmend.ir.module import ClassInfo, Function, Module
from graphmend.ir.project import Project
from graphmend.ir.values import ClassValue, FunctionValue, Instance

_SCRIPTS = frozenset(
    {
        "torch.jit.script",
        "torch.jit.script_if_tracing",
        "torch.jit.script_method",
        "torch.jit.export",
        "torch.jit.interface",
    }
)
_IN_TEXT = re.compile(rb"\bjit\s*\.\s*(script|export|interface)|from\s+torch\.jit\s+import")


def scripted(project: Project, function: Function) -> bool:
    """Whether `function` is compiled by TorchScript somewhere in the project: by a decorator, as
    an argument of `torch.jit.script`, as part of a scripted module, or called from one."""
    known = project.remembered("scripted", lambda: _closure(project, _targets(project)))
    if function in known:
        return True
    return function.outer is not None and scripted(project, function.outer)


def _targets(project: Project) -> Iterator[Function]:
    for path in project.mentioning("jit") or ():
        if _IN_TEXT.search(project.text(path)):
            module = project.module_at(path)
            if module is not None:
                yield from _targets_in(project, module)


def _targets_in(project: Project, module: Module) -> Iterator[Function]:
    for function in module.functions.values():
        if not _SCRIPTS.isdisjoint(decorator_names(function)):
            yield function
    for info in module.classes.values():
        if _is_scripted_class(project, module, info):
            yield from info.methods.values()
    for node in module.nodes:
        if isinstance(node, ast.Call) and node.args and _is_named(node.func, "script"):
            function_around = module.function_of(node)
            if module.qualified(node.func, function_around) == "torch.jit.script":
                yield from _handed_over(project, module, node.args[0])


def _is_named(called: ast.expr, name: str) -> bool:
    return isinstance(called, ast.Name) or (
        isinstance(called, ast.Attribute) and called.attr == name
    )


def _is_scripted_class(project: Project, module: Module, info: ClassInfo) -> bool:
    around = module.function_of(info.node)
    names = {module.qualified(d, around) for d in info.node.decorator_list}
    if not _SCRIPTS.isdisjoint(names):
        return True
    if "ScriptModule" not in module.source.text:
        return False
    return "torch.jit.ScriptModule" in project.hierarchy.order(info)


def _handed_over(project: Project, module: Module, target: ast.expr) -> Iterator[Function]:
    for value in project.graph.values.of(target, module.function_of(target), module):
        match value:
            case FunctionValue(function):
                yield function
            case Instance(info) | ClassValue(info):
                yield from _compiled_methods(project, info)


def _compiled_methods(project: Project, info: ClassInfo) -> Iterator[Function]:
    method = project.member(info, "forward")
    if method is not None:
        yield method
    else:
        yield from info.methods.values()


def _closure(project: Project, targets: Iterator[Function]) -> set[Function]:
    """The targets and all that they call."""
    found = set(targets)
    work = list(found)
    while work:
        for target in project.graph.edges(work.pop()):
            if target not in found:
                found.add(target)
                work.append(target)
    return found
