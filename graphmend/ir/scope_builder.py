"""Builds the scopes of a module in one visit, which also records the parent of every node.

The standard library's symtable would need a second parse and a fragile match of its tables to
nodes (two lambdas in a line, comprehensions that some versions inline); the tests hold the two
equal.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from graphmend.ir.scopes import (
    COMPREHENSIONS,
    Binding,
    BindingKind,
    ComprehensionNode,
    Scope,
    ScopeKind,
    ScopeMap,
    children,
    parameters,
)

_Work = tuple[ast.AST, Scope]


def build_scopes(tree: ast.Module) -> ScopeMap:
    """Visit a module once. Iterative, so that deep expressions do not exhaust the stack."""
    return _Builder(tree).run()


class _Builder:
    def __init__(self, tree: ast.Module) -> None:
        self.module = Scope(ScopeKind.MODULE, tree, None)
        self.scopes: dict[ast.AST, Scope] = {tree: self.module}
        self.name_scopes: dict[ast.Name, Scope] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        self.remote: list[tuple[Scope, str, Binding]] = []
        self.visitors: dict[type[ast.AST], Callable[..., list[_Work] | None]] = {
            ast.Name: self.name,
            ast.FunctionDef: self.function,
            ast.AsyncFunctionDef: self.function,
            ast.Lambda: self.lambda_,
            ast.ClassDef: self.class_,
            ast.Import: self.import_,
            ast.ImportFrom: self.import_,
            ast.Global: self.global_,
            ast.Nonlocal: self.nonlocal_,
            ast.Assign: self.assign,
            ast.AnnAssign: self.annotated,
            ast.NamedExpr: self.walrus,
            ast.ExceptHandler: self.handler,
            ast.MatchAs: self.capture,
            ast.MatchStar: self.capture,
            ast.MatchMapping: self.mapping,
        }
        self.visitors.update(dict.fromkeys(COMPREHENSIONS, self.comprehension))
        if hasattr(ast, "TypeAlias"):
            self.visitors[ast.TypeAlias] = self.type_alias

    def run(self) -> ScopeMap:
        stack: list[_Work] = [(self.module.node, self.module)]
        parents, visitors = self.parents, self.visitors
        while stack:
            node, scope = stack.pop()
            inside = children(node)
            for child in inside:
                parents[child] = node
            visit = visitors.get(node.__class__)
            work = visit(node, scope) if visit is not None else None
            if work is not None:
                stack += work[::-1]
            elif inside:
                inside.reverse()
                stack += [(child, scope) for child in inside]
        self.settle()
        return ScopeMap(self.module, self.scopes, self.name_scopes, parents)

    def settle(self) -> None:
        """Hand bindings made under `global` or `nonlocal` to the scope that owns the name."""
        for scope, name, binding in self.remote:
            if name in scope.globals:
                target: Scope | None = self.module
            elif name in scope.nonlocals:
                target = _enclosing(scope, name)
            else:
                continue
            if target is not None:
                moved = Binding(binding.kind, binding.node, binding.value, remote=True)
                target.bindings.setdefault(name, []).append(moved)
                target.spelling.setdefault(name, name)

    def bind(self, scope: Scope, name: str, binding: Binding) -> None:
        stored = scope.mangle(name)
        scope.spelling.setdefault(stored, name)
        # Whether `global` covers the name is known when the whole scope was seen.
        scope.bindings.setdefault(stored, []).append(binding)
        self.remote.append((scope, stored, binding))

    def open(self, kind: ScopeKind, node: ast.AST, parent: Scope, private: str | None) -> Scope:
        scope = Scope(kind, node, parent, private)
        parent.children.append(scope)
        if kind is not ScopeKind.TYPE_PARAMETERS:
            self.scopes[node] = scope
        return scope

    # --- names -------------------------------------------------------------------------

    def name(self, node: ast.Name, scope: Scope) -> list[_Work]:
        self.name_scopes[node] = scope
        scope.names.setdefault(scope.mangle(node.id), []).append(node)
        if isinstance(node.ctx, ast.Load):
            return []
        if isinstance(node.ctx, ast.Store):
            self.bind(scope, node.id, Binding(BindingKind.OTHER, self.parents[node]))
        else:
            self.bind(scope, node.id, Binding(BindingKind.DELETE, self.parents[node]))
        return []

    def target(self, node: ast.Name, scope: Scope, holder: ast.AST, value: ast.expr | None) -> None:
        self.parents[node] = holder
        self.name_scopes[node] = scope
        scope.names.setdefault(scope.mangle(node.id), []).append(node)
        self.bind(scope, node.id, Binding(BindingKind.ASSIGN, holder, value))

    def assign(self, node: ast.Assign, scope: Scope) -> list[_Work]:
        work: list[_Work] = [(node.value, scope)]
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.target(target, scope, node, node.value)
            else:
                work.append((target, scope))
        return work

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> list[_Work]:
        work: list[_Work] = [(node.annotation, scope)]
        if node.value is not None:
            work.append((node.value, scope))
        if not isinstance(node.target, ast.Name):
            work.append((node.target, scope))
        elif node.value is None and not node.simple:
            self.name_scopes[node.target] = scope  # `(x): int` declares and binds nothing
        else:
            # `x: int` alone makes x a local of the scope although it binds nothing.
            self.target(node.target, scope, node, node.value)
        return work

    def walrus(self, node: ast.NamedExpr, scope: Scope) -> list[_Work]:
        owner = scope
        while owner.kind is ScopeKind.COMPREHENSION and owner.parent is not None:
            owner = owner.parent
        if owner is scope:
            self.target(node.target, scope, node, node.value)
        else:
            scope.names.setdefault(scope.mangle(node.target.id), []).append(node.target)
            self.target(node.target, owner, node, None)
        return [(node.value, scope)]

    def import_(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> list[_Work]:
        for alias in node.names:
            if alias.name != "*":
                name = alias.asname or alias.name
                if isinstance(node, ast.Import) and alias.asname is None:
                    name = name.partition(".")[0]
                self.bind(scope, name, Binding(BindingKind.IMPORT, alias))
        return []

    def global_(self, node: ast.Global, scope: Scope) -> None:
        if scope is not self.module:
            scope.globals.update(map(scope.mangle, node.names))

    def nonlocal_(self, node: ast.Nonlocal, scope: Scope) -> None:
        scope.nonlocals.update(map(scope.mangle, node.names))

    def handler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        if node.name is not None:
            self.bind(scope, node.name, Binding(BindingKind.OTHER, node))

    def capture(self, node: ast.MatchAs | ast.MatchStar, scope: Scope) -> None:
        if node.name is not None:
            self.bind(scope, node.name, Binding(BindingKind.OTHER, node))

    def mapping(self, node: ast.MatchMapping, scope: Scope) -> None:
        if node.rest is not None:
            self.bind(scope, node.rest, Binding(BindingKind.OTHER, node))

    # --- scopes ------------------------------------------------------------------------

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> list[_Work]:
        self.bind(scope, node.name, Binding(BindingKind.FUNCTION, node))
        work: list[_Work] = [(decorator, scope) for decorator in node.decorator_list]
        around = self.type_parameters(node, scope, scope.private, work)
        inner = self.open(ScopeKind.FUNCTION, node, around, scope.private)
        self.arguments(node.args, scope, around, inner, work)
        if node.returns is not None:
            work.append((node.returns, around))
        work.extend((statement, inner) for statement in node.body)
        return work

    def lambda_(self, node: ast.Lambda, scope: Scope) -> list[_Work]:
        inner = self.open(ScopeKind.FUNCTION, node, scope, scope.private)
        work: list[_Work] = []
        self.arguments(node.args, scope, scope, inner, work)
        work.append((node.body, inner))
        return work

    def arguments(
        self, node: ast.arguments, outer: Scope, around: Scope, inner: Scope, work: list[_Work]
    ) -> None:
        for child in children(node):
            self.parents[child] = node
        for arg in parameters(node):
            self.bind(inner, arg.arg, Binding(BindingKind.PARAMETER, arg))
            if arg.annotation is not None:
                self.parents[arg.annotation] = arg
                work.append((arg.annotation, around))
        defaults = [*node.defaults, *(d for d in node.kw_defaults if d is not None)]
        work.extend((default, outer) for default in defaults)

    def class_(self, node: ast.ClassDef, scope: Scope) -> list[_Work]:
        self.bind(scope, node.name, Binding(BindingKind.CLASS, node))
        work: list[_Work] = [(decorator, scope) for decorator in node.decorator_list]
        around = self.type_parameters(node, scope, node.name, work)
        inner = self.open(ScopeKind.CLASS, node, around, node.name)
        work.extend((base, around) for base in [*node.bases, *node.keywords])
        work.extend((statement, inner) for statement in node.body)
        return work

    def type_alias(self, node: Any, scope: Scope) -> list[_Work]:
        work: list[_Work] = [(node.name, scope)]
        around = self.type_parameters(node, scope, scope.private, work)
        work.append((node.value, around))
        return work

    def type_parameters(
        self, node: ast.AST, scope: Scope, private: str | None, work: list[_Work]
    ) -> Scope:
        # Any: Python 3.11's ast has no type parameters.
        declared: list[Any] = getattr(node, "type_params", [])
        if not declared:
            return scope
        around = self.open(ScopeKind.TYPE_PARAMETERS, node, scope, private)
        for parameter in declared:
            self.bind(around, parameter.name, Binding(BindingKind.PARAMETER, parameter))
            work.append((parameter, around))
        return around

    def comprehension(self, node: ComprehensionNode, scope: Scope) -> list[_Work]:
        inner = self.open(ScopeKind.COMPREHENSION, node, scope, scope.private)
        for part in node.generators:
            for child in children(part):
                self.parents[child] = part
        # The first iterable is evaluated outside the comprehension's own scope.
        work: list[_Work] = [(node.generators[0].iter, scope)]
        for index, part in enumerate(node.generators):
            work.append((part.target, inner))
            if index:
                work.append((part.iter, inner))
            work.extend((test, inner) for test in part.ifs)
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        work.extend((element, inner) for element in elements)
        return work


def _enclosing(scope: Scope, name: str) -> Scope | None:
    """The function scope that a `nonlocal name` in `scope` means."""
    outer = scope.parent
    while outer is not None:
        if outer.kind is not ScopeKind.CLASS and outer.binds(name):
            return outer
        outer = outer.parent
    return None
