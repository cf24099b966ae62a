"""The interpreter behind `values`: from an expression in its function to what it may stand for."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from graphmend.ir import containers
from graphmend.ir.bindings import (
    Binding,
    How,
    bindings_of,
    comprehension_bindings,
)
from graphmend.ir.definitions import Definition
from graphmend.ir.members import Members
from graphmend.ir.module import ClassInfo, Function, Module
from graphmend.ir.values import (
    ANYTHING,
    NOTHING,
    UNKNOWN,
    ClassValue,
    External,
    ExternalInstance,
    FunctionValue,
    Instance,
    Many,
    Val,
    Vals,
    elements,
    is_open,
)

if TYPE_CHECKING:
    from graphmend.ir.project import Project


@dataclass
class Frame:
    """A call being looked into: the arguments, and the answers that rest on them."""

    depth: int
    given: dict[tuple[Function, str], Vals]
    memo: dict[ast.expr, Vals] = field(default_factory=dict)


_MAX_DEPTH = 3
_TELLING = (FunctionValue, ClassValue, Instance, Many)
_INSTANCE_MAKERS = {"logging.getLogger": "logging.Logger"}
# Calls that hand back what they are given, as far as it can be called.
_PASS_THROUGH = frozenset(
    {
        "copy.copy",
        "copy.deepcopy",
        "functools.partial",
        "functools.update_wrapper",
        "torch.compile",
        "torch.compiler.disable",
        "torch.jit.script",
        "torch.jit.ignore",
        "torch.no_grad",
        "torch.inference_mode",
        "torch.enable_grad",
        "typing.cast",
    }
)
# Calls that return a decorator which changes nothing about who is called.
DECORATOR_MAKERS = frozenset(
    {
        "functools.wraps",
        "functools.lru_cache",
        "torch.compile",
        "torch.no_grad",
        "torch.inference_mode",
        "torch.enable_grad",
        "torch.set_grad_enabled",
        "torch.autocast",
        "torch.amp.autocast",
        "torch.compiler.disable",
        "torch._dynamo.disable",
        "torch._dynamo.optimize",
        "torch._disable_dynamo",
    }
)
# Decorators that change nothing about who is called.
PLAIN_DECORATORS = DECORATOR_MAKERS | {
    "abc.abstractmethod",
    "builtins.classmethod",
    "builtins.property",
    "builtins.staticmethod",
    "functools.cache",
    "functools.cached_property",
    "graphmend.runtime.deferred_check",
    "graphmend.runtime.deferred_effect",
    "torch.jit.export",
    "torch.jit.ignore",
    "torch.jit.script",
    "torch.jit.script_if_tracing",
    "torch.jit.script_method",
    "torch.jit.unused",
    "torch.compiler.allow_in_graph",
    "torch.compiler.assume_constant_result",
    "torch.compiler.substitute_in_graph",
    "typing.final",
    "typing.no_type_check",
    "typing.overload",
    "typing_extensions.deprecated",
    "typing_extensions.override",
    "typing.override",
}


class Evaluator:
    """Evaluates expressions of one project; answers are memoised by node."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._memo: dict[ast.expr, Vals] = {}
        self._bindings: dict[Function, dict[str, list[Binding]]] = {}
        self._results: dict[Function, Vals] = {}
        self._members = Members(project, self)

    def of(
        self,
        node: ast.expr,
        function: Function | None,
        module: Module,
        frame: Frame | None = None,
    ) -> Vals:
        """What `node`, which stands in `function` of `module`, may be."""
        memo = self._memo if frame is None else frame.memo
        found = memo.get(node)
        if found is None:
            memo[node] = ANYTHING  # what refers to itself is unknown
            found = memo[node] = self._evaluate(node, function, module, frame)
        return found

    def _evaluate(
        self, node: ast.expr, function: Function | None, module: Module, frame: Frame | None
    ) -> Vals:
        def again(inner: ast.expr) -> Vals:
            return self.of(inner, function, module, frame)

        match node:
            case ast.Name():
                return self._name(node, function, module, frame)
            case ast.Attribute():
                qualified = module.qualified(node, function)
                if qualified is not None and self._project.follow(qualified, module) is not None:
                    return self.named(qualified, module)
                return self._members.attribute(again(node.value), node.attr)
            case ast.Call():
                return self._call(node, function, module, frame)
            case ast.IfExp():
                return again(node.body) | again(node.orelse)
            case ast.BoolOp():
                return NOTHING.union(*(again(value) for value in node.values))
            case ast.NamedExpr() | ast.Starred():
                return again(node.value)
            case ast.Subscript():
                return containers.subscript(again(node.value), node.slice)
            case ast.Constant():
                is_text = isinstance(node.value, str)
                return frozenset({ExternalInstance("builtins.str")}) if is_text else NOTHING
            case ast.JoinedStr():
                return frozenset({ExternalInstance("builtins.str")})
            case ast.Lambda():
                return frozenset({FunctionValue(module.function_at(node))})
        return containers.display(node, again)

    # -- names -----------------------------------------------------------------------------

    def _name(
        self, node: ast.Name, function: Function | None, module: Module, frame: Frame | None
    ) -> Vals:
        above = module.parent(node)
        while above is not None and not isinstance(above, ast.stmt | ast.Lambda):
            clauses = comprehension_bindings(above, node.id)
            if clauses:
                return self._bound(clauses, function, module, frame)
            above = module.parent(above)
        qualified = module.qualified(node, function)
        if qualified is not None:
            return self.named(qualified, module)
        scope = function
        while scope is not None:
            if scope.is_local(node.id):
                return self._local(node.id, scope, frame)
            scope = scope.outer
        return self._starred(node.id, module)

    def _starred(self, name: str, module: Module) -> Vals:
        """A name that only a star import can have brought."""
        if module.star_imports and not module.scopes.module.binds(name):
            for star in module.star_imports:
                found = self._project.follow(f"{star}.{name}", module)
                if found is not None and not isinstance(found, str):
                    return self.defined(found)
        return ANYTHING

    def named(self, qualified: str, module: Module) -> Vals:
        """What a dotted name used in `module` stands for."""
        found = self._project.follow(qualified, module)
        if found is None:
            return ANYTHING
        if isinstance(found, str):
            return frozenset({External(found)})
        return self.defined(found)

    def defined(self, found: Definition) -> Vals:
        """The value of a definition."""
        if isinstance(found, Function):
            return frozenset({FunctionValue(found)})
        if isinstance(found, ClassInfo):
            return frozenset({ClassValue(found)})
        parts = [self.of(v, None, found.module) for v in found.values]
        return NOTHING.union(*parts)

    def _local(self, name: str, scope: Function, frame: Frame | None) -> Vals:
        if frame is not None and (scope, name) in frame.given:
            return frame.given[scope, name]
        nested = f"{scope.qualname}.<locals>.{name}"
        found: set[Val] = set()
        for key in (nested, *(f"{nested}#{i}" for i in range(2, 5))):
            if key in scope.module.functions:
                found.add(FunctionValue(scope.module.functions[key]))
            if key in scope.module.classes:
                found.add(ClassValue(scope.module.classes[key]))
        if name in scope.params:
            found |= self._members.parameter(name, scope)
        return frozenset(found) | self._bound(
            self.bindings(scope).get(name, []), scope, scope.module, frame
        )

    def bindings(self, scope: Function) -> dict[str, list[Binding]]:
        """Every binding in the body of `scope`, by name."""
        if scope not in self._bindings:
            self._bindings[scope] = bindings_of(scope.nodes)
        return self._bindings[scope]

    def _bound(
        self,
        bindings: list[Binding],
        scope: Function | None,
        module: Module,
        frame: Frame | None,
    ) -> Vals:
        found: Vals = NOTHING
        for binding in bindings:
            if binding.origin is not None:
                found |= self._imported(binding.origin, module)
            elif binding.value is None:
                found |= ANYTHING
            else:
                values = self.of(binding.value, scope, module, frame)
                if binding.how is How.ELEMENT:
                    values = elements(values)
                elif binding.how is How.MEMBER:
                    values = frozenset({Many(values)})
                found |= values
        return found

    def _imported(
        self, origin: tuple[ast.Import | ast.ImportFrom, ast.alias], module: Module
    ) -> Vals:
        statement, alias = origin
        if isinstance(statement, ast.ImportFrom):
            source = module.imported_module(statement)
            return ANYTHING if source is None else self.named(f"{source}.{alias.name}", module)
        name = alias.name if alias.asname else alias.name.partition(".")[0]
        return frozenset({External(name)})

    # -- calls -----------------------------------------------------------------------------

    def _call(
        self, node: ast.Call, function: Function | None, module: Module, frame: Frame | None
    ) -> Vals:
        def again(inner: ast.expr) -> Vals:
            return self.of(inner, function, module, frame)

        match node:
            case ast.Call(func=ast.Name(id="super")) if function is not None:
                return self._members.super_of(function)
            case ast.Call(func=ast.Name(id="getattr"), args=[base, ast.Constant(value=str(attr))]):
                return self._members.attribute(again(base), attr)
            case ast.Call(func=ast.Attribute(value=base, attr=attr)) if attr in containers.METHODS:
                inside = again(base)
                if any(isinstance(value, Many) for value in inside):
                    return containers.method(inside, attr)
        if isinstance(node.func, ast.Call) and self._makes_decorator(again(node.func.func)):
            return again(node.args[0]) if len(node.args) == 1 else ANYTHING
        found: Vals = NOTHING
        for callee in again(node.func):
            found |= self.result(callee, lambda: [again(a) for a in node.args], frame)
        return found

    @staticmethod
    def _makes_decorator(values: Vals) -> bool:
        return bool(values) and all(
            isinstance(v, External) and v.name in DECORATOR_MAKERS for v in values
        )

    def result(
        self, callee: Val, arguments: Callable[[], list[Vals]], frame: Frame | None = None
    ) -> Vals:
        """What calling `callee` with these positional arguments may return."""
        match callee:
            case ClassValue(info):
                return frozenset({Instance(info)})
            case FunctionValue(function, receiver):
                return self._call_result(function, receiver, arguments, frame)
            case External("typing.cast"):
                return arguments()[-1]
            case External(name) if name in _PASS_THROUGH:
                return (arguments() or [ANYTHING])[0]
            case External(name) if name in containers.MAKERS:
                return containers.make(name, arguments())
            case External(name) if name in _INSTANCE_MAKERS:
                return frozenset({ExternalInstance(_INSTANCE_MAKERS[name])})
            case External(name) if name.rpartition(".")[2][:1].isupper():
                return frozenset({ExternalInstance(name)})
        return ANYTHING

    def _call_result(
        self,
        function: Function,
        receiver: ClassInfo | None,
        arguments: Callable[[], list[Vals]],
        frame: Frame | None,
    ) -> Vals:
        """The result whatever the arguments; where that is open, the result for these."""
        found = self._results.get(function)
        if found is None:
            self._results[function] = ANYTHING
            found = self._results[function] = self._returned(function, None)
        depth = frame.depth + 1 if frame is not None else 0
        if is_open(found) and depth < _MAX_DEPTH:
            values = arguments()
            if any(isinstance(v, _TELLING) for value in values for v in value):
                params = function.params[1:] if receiver is not None else function.params
                given = {(function, p): v for p, v in zip(params, values, strict=False)}
                outer = frame.given if frame is not None else {}
                found = self._returned(function, Frame(depth, {**outer, **given}))
        found = frozenset(_made_in(function.module, value) for value in found)
        declared = self._members.declared(function)
        return (found - ANYTHING) | declared if UNKNOWN in found and declared else found

    def _returned(self, function: Function, frame: Frame | None) -> Vals:
        module, node = function.module, function.node
        if isinstance(node, ast.Lambda):
            return self.of(node.body, function, module, frame)
        if isinstance(node, ast.AsyncFunctionDef):
            return ANYTHING
        found: Vals = NOTHING
        for inner in function.nodes:
            if isinstance(inner, ast.Yield | ast.YieldFrom):
                return ANYTHING
            if isinstance(inner, ast.Return) and inner.value is not None:
                found |= self.of(inner.value, function, module, frame)
        return found


def _made_in(module: Module, value: Val) -> Val:
    """Note on an outside object which module of the project made it."""
    if isinstance(value, ExternalInstance) and value.origin is None:
        return replace(value, origin=module)
    return value
