"""Qualified names: what a dotted expression of a module refers to, as far as one file can tell."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

from graphmend.ir.scopes import Binding, BindingKind, Scope, ScopeKind, ScopeMap

# Every module has its own value for these, whatever `builtins` holds under the name.
_MODULE_OWN = frozenset({"__name__", "__doc__", "__package__", "__loader__", "__spec__", "_"})
BUILTINS = frozenset(dir(builtins)) - _MODULE_OWN
_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_DEFINITIONS = (BindingKind.FUNCTION, BindingKind.CLASS)


class Resolver:
    """Resolves names of one module. Answers are None wherever the file leaves a doubt."""

    def __init__(self, name: str, package: bool, scopes: ScopeMap) -> None:
        self.name = name
        self.package = package
        self.scopes = scopes
        self._known: dict[tuple[Scope, str], str | None] = {}

    def qualified(self, expr: ast.expr, scope: Scope) -> str | None:
        """The absolute dotted name of `expr`, read in `scope` unless it stands in the tree."""
        attributes: list[str] = []
        while isinstance(expr, ast.Attribute):
            attributes.append(expr.attr)
            expr = expr.value
        if not isinstance(expr, ast.Name):
            return None
        base = self.resolve(expr.id, self.scopes.name_scopes.get(expr, scope))
        return None if base is None else ".".join([base, *reversed(attributes)])

    def resolve(self, name: str, scope: Scope) -> str | None:
        """The absolute dotted name of a plain name read in `scope`."""
        owner = scope.owner(name)
        if owner is None:
            known = name in BUILTINS and name not in scope.module().bindings
            return f"builtins.{name}" if known else None
        key = (owner, scope.mangle(name))
        if key not in self._known:
            self._known[key] = None  # a cycle of aliases has no answer
            self._known[key] = self._binding(owner, key[1])
        return self._known[key]

    def absolute(self, node: ast.ImportFrom) -> str | None:
        """The absolute name of the module that `from .. import` names; None beyond the top."""
        if not node.level:
            return node.module
        parts = self.name.split(".")
        dropped = node.level - 1 if self.package else node.level
        if dropped >= len(parts):
            return None
        parts = parts[: len(parts) - dropped]
        return ".".join([*parts, node.module] if node.module else parts)

    def _binding(self, owner: Scope, name: str) -> str | None:
        found = [b for b in owner.bindings_of(name) if not _declares_only(b)]
        found = self._at_run_time(found)
        if found and all(b.kind in _DEFINITIONS for b in found):
            return self._definition(owner, found)
        targets = {self._target(owner, name, binding) for binding in found}
        # A variable with several values is not one thing, though each is called the same.
        if len(targets) == 1 and not (len(found) > 1 and f"{self.name}.{name}" in targets):
            return targets.pop()
        return self._fallback_import(owner, name, found)

    def _target(self, owner: Scope, name: str, binding: Binding) -> str | None:
        node = binding.node
        if binding.kind is BindingKind.IMPORT and isinstance(node, ast.alias):
            return self._imported(node)
        if binding.kind in _DEFINITIONS:
            return self._definition(owner, [binding])
        if binding.kind is BindingKind.ASSIGN and owner.kind is ScopeKind.MODULE:
            if binding.remote:
                return None
            alias = None if binding.value is None else self.qualified(binding.value, owner)
            return alias or f"{self.name}.{name}"
        return None

    def _imported(self, alias: ast.alias) -> str | None:
        statement = self.scopes.parents[alias]
        if isinstance(statement, ast.ImportFrom):
            module = self.absolute(statement)
            return None if module is None else f"{module}.{alias.name}"
        return alias.name if alias.asname else alias.name.partition(".")[0]

    def _definition(self, owner: Scope, found: Sequence[Binding]) -> str | None:
        """The name of a def or class; of several, the last one if it is surely the last run."""
        real = [b for b in found if not is_overload(b.node)]
        last = (real or found)[-1].node
        if len(real) > 1 and self.scopes.parents[last] is not owner.node:
            return None
        return f"{self.name}.{qualname(last, self.scopes)}"

    def _at_run_time(self, found: list[Binding]) -> list[Binding]:
        """Without the bindings that only a type checker sees, unless there are no others."""
        real = [b for b in found if not self._type_checking(b.node)]
        return real or found

    def _type_checking(self, node: ast.AST) -> bool:
        for parent, child in self._ancestors(node):
            if isinstance(parent, ast.If) and child in parent.body:
                test = parent.test
                name = test.attr if isinstance(test, ast.Attribute) else None
                if isinstance(test, ast.Name):
                    name = test.id
                if name == "TYPE_CHECKING":
                    return True
        return False

    def _fallback_import(self, owner: Scope, name: str, found: list[Binding]) -> str | None:
        """`try: import x` with other bindings of x only in its ImportError handlers: the first."""
        for parent, child in self._ancestors(found[0].node) if found else ():
            if isinstance(parent, ast.Try) and child in parent.body:
                if not all(map(_catches_import_error, parent.handlers)):
                    return None
                first = {
                    self._target(owner, name, b) for b in found if self._within(b.node, parent.body)
                }
                others = [b for b in found if not self._within(b.node, parent.body)]
                if all(self._within(b.node, parent.handlers) for b in others) and len(first) == 1:
                    return first.pop()
        return None

    def _within(self, node: ast.AST, parts: Sequence[ast.AST]) -> bool:
        return node in parts or any(parent in parts for parent, _ in self._ancestors(node))

    def _ancestors(self, node: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
        chain = []
        parent = self.scopes.parents.get(node)
        while parent is not None:
            chain.append((parent, node))
            node, parent = parent, self.scopes.parents.get(parent)
        return chain


def qualname(node: ast.AST, scopes: ScopeMap) -> str:
    """The `__qualname__` of a def, class or lambda."""
    name = getattr(node, "name", "<lambda>")
    own = scopes.scopes[node]
    outer = own.parent
    while outer is not None:
        if outer.mangle(name) in outer.globals:
            return str(name)
        if outer.kind is ScopeKind.FUNCTION:
            return f"{qualname(outer.node, scopes)}.<locals>.{name}"
        if outer.kind is ScopeKind.CLASS:
            return f"{qualname(outer.node, scopes)}.{name}"
        outer = outer.parent
    return str(name)


def is_overload(node: ast.AST) -> bool:
    """Whether a def is only a typing overload or adds to a property of the same name."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return any(_tail(d) in {"overload", "setter", "deleter"} for d in node.decorator_list)


def _tail(expr: ast.expr) -> str | None:
    if isinstance(expr, ast.Attribute):
        return expr.attr
    return expr.id if isinstance(expr, ast.Name) else None


def _declares_only(binding: Binding) -> bool:
    return isinstance(binding.node, ast.AnnAssign) and binding.node.value is None


def _catches_import_error(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(_tail(kind) in _IMPORT_ERRORS for kind in types)
