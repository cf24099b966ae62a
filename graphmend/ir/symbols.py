"""Functions and classes of a module."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from graphmend.ir.bindings import own_nodes
from graphmend.ir.names import is_overload
from graphmend.ir.scopes import FunctionNode, Scope, parameters

if TYPE_CHECKING:
    from graphmend.ir.cfg import Cfg
    from graphmend.ir.dataflow import Flow
    from graphmend.ir.module import Module


@dataclass(eq=False)
class Function:
    """A def or lambda. `owner` is the class it is a method of, `outer` the function around it."""

    module: Module
    node: FunctionNode
    name: str
    qualname: str
    scope: Scope
    owner: ClassInfo | None
    outer: Function | None

    def __repr__(self) -> str:
        return f"<Function {self.module.name}.{self.qualname}>"

    @cached_property
    def params(self) -> list[str]:
        """Parameter names in signature order, `*args` and `**kwargs` included."""
        return [arg.arg for arg in parameters(self.node.args)]

    @property
    def decorators(self) -> list[ast.expr]:
        """Decorator expressions, outermost first."""
        return [] if isinstance(self.node, ast.Lambda) else self.node.decorator_list

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """Every statement of the body, nested blocks included, inner defs' bodies not."""
        return [] if isinstance(self.node, ast.Lambda) else list(_statements(self.node.body))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the body but those of functions and classes defined in it; `own_nodes`."""
        return tuple(own_nodes(self.node.body))

    @property
    def qualified(self) -> str:
        """The dotted name of the function from the top of its package."""
        return f"{self.module.name}.{self.qualname}"

    def locals(self) -> frozenset[str]:
        """Names bound in the function, parameters included, as they are spelled."""
        return self._locals

    def is_local(self, name: str) -> bool:
        """Whether the function itself binds the name."""
        return self.scope.binds(name)

    def free_names(self) -> frozenset[str]:
        """Names of enclosing functions that this function, or one inside it, reads or binds."""
        return self._free

    @cached_property
    def _locals(self) -> frozenset[str]:
        scope = self.scope
        return frozenset(scope.spelling[name] for name in scope.bindings if scope.binds(name))

    @cached_property
    def _free(self) -> frozenset[str]:
        inside = set(self.scope.walk())
        found = set()
        for scope in inside:
            for name, nodes in scope.names.items():
                owner = scope.owner(name)
                if owner is not None and owner not in inside and owner.parent is not None:
                    found.add(nodes[0].id)
        return frozenset(found)

    @cached_property
    def cfg(self) -> Cfg:
        """The control-flow graph of the body."""
        from graphmend.ir.cfg import Cfg

        return Cfg(self)

    @cached_property
    def flow(self) -> Flow:
        """Reaching definitions and liveness of the body."""
        from graphmend.ir.dataflow import Flow

        return Flow(self)


@dataclass(eq=False)
class ClassInfo:
    """A class: its bases as written, its methods, and the attributes that it is seen to set.

    `attributes` maps a name to every `self.name = value` in a method (or a function inside
    one); the value is None where it is not written whole (unpacking, loops, `+=`, `del`).
    `assigns` does the same for names bound in the class body.
    """

    module: Module
    node: ast.ClassDef
    qualname: str
    scope: Scope
    outer: Function | None
    methods: dict[str, Function] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<ClassInfo {self.module.name}.{self.qualname}>"

    @property
    def name(self) -> str:
        """The class's own name."""
        return self.node.name

    @property
    def bases(self) -> list[ast.expr]:
        """Base class expressions, keywords excluded."""
        return self.node.bases

    @property
    def qualified(self) -> str:
        """The dotted name of the class from the top of its package."""
        return f"{self.module.name}.{self.qualname}"

    @cached_property
    def attributes(self) -> dict[str, list[tuple[Function, ast.expr | None]]]:
        """What methods, and functions inside them, bind on `self`."""
        return self.module.attributes_of(self)

    @cached_property
    def assigns(self) -> dict[str, list[ast.expr | None]]:
        """Names that the class body binds to something other than a def, class or import."""
        found: dict[str, list[ast.expr | None]] = {}
        for name, bindings in self.scope.bindings.items():
            values = [b.value for b in bindings if b.kind in ("assign", "other", "delete")]
            if values and self.scope.binds(name):
                found[self.scope.spelling[name]] = values
        return found

    def add_method(self, function: Function) -> None:
        """Record a method: of several defs the last one, a property's getter before its setter."""
        if function.name not in self.methods or not is_overload(function.node):
            self.methods[function.name] = function


def receiver(function: Function) -> str | None:
    """The name of `self` in a method; None for static and class methods and plain functions."""
    node = function.node
    if function.owner is None or isinstance(node, ast.Lambda):
        return None
    kinds = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
    if kinds & {"staticmethod", "classmethod"} or node.name == "__new__":
        return None
    positional = [*node.args.posonlyargs, *node.args.args]
    return positional[0].arg if positional else None


def attribute_stores(statement: ast.AST) -> list[tuple[ast.Attribute, ast.expr | None]]:
    """The attributes that a statement binds or deletes itself, each with the value if written."""
    found: list[tuple[ast.Attribute, ast.expr | None]] = []
    if isinstance(statement, ast.expr):  # most nodes of a body
        return found
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            _match(target, statement.value, found)
    elif isinstance(statement, ast.AnnAssign):
        if statement.value is not None:
            _match(statement.target, statement.value, found)
    elif isinstance(statement, ast.Delete):
        for target in statement.targets:
            _match(target, None, found)
    elif isinstance(statement, ast.For | ast.AsyncFor | ast.AugAssign | ast.comprehension):
        _match(statement.target, None, found)
    elif isinstance(statement, ast.withitem) and statement.optional_vars is not None:
        _match(statement.optional_vars, None, found)
    return found


def _match(
    target: ast.expr, value: ast.expr | None, found: list[tuple[ast.Attribute, ast.expr | None]]
) -> None:
    if isinstance(target, ast.Attribute):
        found.append((target, value))
    elif isinstance(target, ast.Starred):
        _match(target.value, None, found)
    elif isinstance(target, ast.Tuple | ast.List):
        for item, part in zip(target.elts, unpacked(target, value), strict=True):
            _match(item, part, found)


def unpacked(target: ast.Tuple | ast.List, value: ast.expr | None) -> list[ast.expr | None]:
    """The value of each element of an unpacking target, None where it is not written."""
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    starred = any(isinstance(item, ast.Starred) for item in [*target.elts, *parts])
    if starred or len(parts) != len(target.elts):
        return [None] * len(target.elts)
    return list(parts)


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    stack: list[ast.AST] = list(reversed(body))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt):
            found.append(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        inner: list[ast.AST] = []
        for name in ("body", "handlers", "cases", "orelse", "finalbody"):
            inner.extend(getattr(node, name, ()))
        stack.extend(reversed(inner))
    return found
