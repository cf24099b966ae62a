"""Lexical scopes: which names each part of a module binds, and where a name is looked up."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ComprehensionNode = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class ScopeKind(StrEnum):
    """What opens a scope."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    COMPREHENSION = "comprehension"
    TYPE_PARAMETERS = "type parameters"


class BindingKind(StrEnum):
    """How a name comes to be bound."""

    IMPORT = "import"
    FUNCTION = "function"
    CLASS = "class"
    ASSIGN = "assign"
    PARAMETER = "parameter"
    OTHER = "other"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Binding:
    """One place that binds a name.

    `node` is what holds it (an alias for imports, the def or class, else the statement, clause
    or expression); `value` is the bound expression where that is written down whole;
    `remote` says that a function binds it through `global` or `nonlocal`.
    """

    kind: BindingKind
    node: ast.AST
    value: ast.expr | None = None
    remote: bool = False


@dataclass(eq=False)
class Scope:
    """One scope. Names are kept as the interpreter stores them (private names mangled)."""

    kind: ScopeKind
    node: ast.AST
    parent: Scope | None
    private: str | None = None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    spelling: dict[str, str] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    names: dict[str, list[ast.Name]] = field(default_factory=dict)
    children: list[Scope] = field(default_factory=list)

    def mangle(self, name: str) -> str:
        """The name as stored: `__x` inside class C is `_C__x`."""
        if self.private is None or not name.startswith("__") or name.endswith("__"):
            return name
        owner = self.private.lstrip("_")
        return f"_{owner}{name}" if owner else name

    def binds(self, name: str) -> bool:
        """Whether the name is a local of this very scope."""
        name = self.mangle(name)
        if name in self.globals or name in self.nonlocals:
            return False
        return name in self.bindings

    def bindings_of(self, name: str) -> list[Binding]:
        """Every binding of a local name of this scope, in source order."""
        return self.bindings.get(self.mangle(name), [])

    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def owner(self, name: str) -> Scope | None:
        """The scope whose variable `name` means here; None for builtins and unknown names."""
        name = self.mangle(name)
        scope: Scope | None = self
        visible = True
        while scope is not None:
            if name in scope.globals:
                scope = scope.module()
                return scope if name in scope.bindings else None
            if visible and scope.binds(name):
                return scope
            inner, scope = scope, scope.parent
            # Class bodies are skipped from inside, but for the annotations and type
            # parameters written in them.
            visible = scope is not None and (
                scope.kind is not ScopeKind.CLASS or inner.kind is ScopeKind.TYPE_PARAMETERS
            )
        return None

    def walk(self) -> Iterator[Scope]:
        """This scope and all scopes inside it."""
        stack = [self]
        while stack:
            scope = stack.pop()
            yield scope
            stack.extend(reversed(scope.children))


@dataclass(frozen=True, slots=True)
class ScopeMap:
    """The scopes of a module and the parents of its nodes."""

    module: Scope
    scopes: dict[ast.AST, Scope]
    name_scopes: dict[ast.Name, Scope]
    parents: dict[ast.AST, ast.AST]


# Fields that never hold a node, and those of contexts and operators.
_SKIPPED_FIELDS = frozenset(
    """arg asname attr conversion ctx id is_async kind kwd_attrs level lineno module op ops rest
    simple tag type_comment""".split()
)
_WITHOUT_NODES = (ast.Constant, ast.Global, ast.Nonlocal)
# Lists that may hold something else beside nodes: the None of `**mapping` and of no default.
_MIXED_FIELDS = frozenset({"keys", "kw_defaults"})
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}


def children(node: ast.AST) -> list[ast.AST]:
    """The child nodes in source order, without contexts and operators (which are shared)."""
    fields = _FIELDS.get(node.__class__)
    if fields is None:
        fields = _fields(node.__class__)
    found: list[ast.AST] = []
    for name in fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            if name in _MIXED_FIELDS:
                found += [item for item in value if item is not None]
            else:
                found += value
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a type of node that may hold nodes. This is asked of every node of a tree,
    so it is worked out once a type."""
    skipped = _SKIPPED_FIELDS if not issubclass(kind, _WITHOUT_NODES) else frozenset(kind._fields)
    fields = _FIELDS[kind] = tuple(f for f in kind._fields if f not in skipped)
    return fields


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all nodes inside it, in source order as `children` gives them."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        inside = children(node)
        if inside:
            inside.reverse()
            stack += inside


def parameters(node: ast.arguments) -> list[ast.arg]:
    """The parameters of a function in the order of its signature."""
    star = [node.vararg] if node.vararg is not None else []
    double = [node.kwarg] if node.kwarg is not None else []
    return [*node.posonlyargs, *node.args, *star, *node.kwonlyargs, *double]
