"""One module: its tree, scopes, functions, classes, names, and the matching libcst tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from unicodedata import normalize

from graphmend.ir.names import Resolver, is_overload, qualname
from graphmend.ir.positions import Positions
from graphmend.ir.scope_builder import build_scopes
from graphmend.ir.scopes import (
    FUNCTIONS,
    FunctionNode,
    Scope,
    ScopeKind,
    ScopeMap,
    children,
    walk,
)
from graphmend.ir.source import Source, SourceError
from graphmend.ir.symbols import ClassInfo, Function, attribute_stores, receiver
from graphmend.ir.trees import parsed

if TYPE_CHECKING:
    import libcst

    from graphmend.ir.twins import TwinTrees

__all__ = ["ClassInfo", "Function", "Module"]

_DEFINED = re.compile(r"\b(?:def|class)[\s\\]+([^\s\\(:\[]+)")


class Module:
    """A parsed file. Everything but the tree is worked out when first asked for."""

    def __init__(self, source: Source, name: str, tree: ast.Module) -> None:
        self.source = source
        self.path: Path = source.path
        self.name = name
        self.tree = tree

    def __repr__(self) -> str:
        return f"<Module {self.name}>"

    @classmethod
    def parse(cls, source: Source, name: str) -> Module:
        """Parse a file under its dotted module name; SourceError where it is not Python."""
        try:
            tree = parsed(source.text, str(source.path))
        except SyntaxError as error:
            line = f"line {error.lineno}: " if error.lineno else ""
            raise SourceError(source.path, f"{line}{error.msg}") from None
        except (RecursionError, MemoryError, ValueError, OverflowError) as error:
            raise SourceError(source.path, f"cannot be parsed: {error or 'too complex'}") from None
        return cls(source, name, tree)

    # --- structure ---------------------------------------------------------------------

    @property
    def is_package(self) -> bool:
        """Whether the file is a package's `__init__`, which relative imports start from."""
        return self.path.name == "__init__.py"

    @cached_property
    def scopes(self) -> ScopeMap:
        """The lexical scopes and node parents."""
        return build_scopes(self.tree)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree in source order, without contexts and operators."""
        return tuple(walk(self.tree))

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that holds `node`; None for the module itself."""
        return self.scopes.parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around `node`, innermost first."""
        parent = self.parent(node)
        while parent is not None:
            yield parent
            parent = self.parent(parent)

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds the node (the node itself if it is one)."""
        here: ast.AST | None = node
        while here is not None and not isinstance(here, ast.stmt):
            here = self.parent(here)
        if here is None:
            raise ValueError(f"{type(node).__name__} is not inside a statement of {self.name}")
        return here

    def function_of(self, node: ast.AST) -> Function | None:
        """The function whose body runs `node`; None at module level.

        A def's decorators, defaults and annotations belong to the function around it, and so
        does the def statement itself.
        """
        child = node
        for parent in self.ancestors(node):
            if isinstance(parent, FUNCTIONS) and _in_body(parent, child):
                return self._functions_by_node[parent]
            child = parent
        return None

    def function_at(self, node: FunctionNode) -> Function:
        """The Function of a def or lambda node."""
        return self._functions_by_node[node]

    def may_define(self, name: str) -> bool:
        """Whether a def or class of that name may be anywhere in the file: answered from the text,
        since most files that are asked only hand names on, and need no scopes for that."""
        return name in self._defined

    @cached_property
    def _defined(self) -> frozenset[str]:
        return frozenset(normalize("NFKC", name) for name in _DEFINED.findall(self.source.text))

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Every def and lambda by `__qualname__`, in source order.

        Where several share a name, the one that counts (the last, a property's getter) has it
        and the others have "#2", "#3" appended to their keys.
        """
        found = sorted(self._functions_by_node.values(), key=_place)
        return _by_name(found, lambda function: is_overload(function.node))

    @cached_property
    def classes(self) -> dict[str, ClassInfo]:
        """Every class by `__qualname__`, in source order; the last of a name has the plain key."""
        return _by_name(sorted(self._classes_by_node.values(), key=_place), lambda _: False)

    # --- names -------------------------------------------------------------------------

    def qualified(self, expr: ast.expr, function: Function | None) -> str | None:
        """The absolute dotted name of a name or attribute chain.

        Imports, module-level aliases and shadowing are followed: "torch.nn.functional.relu" for
        `F.relu`, "builtins.print", "<this module>.helper". None where a local or unknown
        binding is involved. `function` says where an expression that is not part of the tree
        is read; for those that are, their own place counts.
        """
        scope = self.scopes.module if function is None else function.scope
        return self._resolver.qualified(expr, scope)

    def imported_module(self, node: ast.ImportFrom) -> str | None:
        """The absolute name of the module a `from` import names; None beyond the top package."""
        return self._resolver.absolute(node)

    @cached_property
    def star_imports(self) -> tuple[str, ...]:
        """Absolute names of the modules that are star-imported, in source order."""
        found = []
        for node in self.nodes:
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                module = self.imported_module(node)
                if module is not None:
                    found.append(module)
        return tuple(found)

    def identifiers(self) -> frozenset[str]:
        """Every identifier anywhere in the file: what a fresh name must differ from."""
        return self._identifiers

    def scope_of(self, name: ast.Name) -> Scope:
        """The scope that a name of the tree is read or bound in."""
        return self.scopes.name_scopes[name]

    # --- text --------------------------------------------------------------------------

    @property
    def line_offsets(self) -> tuple[int, ...]:
        """Character offset of the start of each line of the text."""
        return self._positions.line_offsets

    def offsets(self, node: ast.AST) -> tuple[int, int]:
        """Character offsets (start, end) of a node in the text.

        Inside an f-string whose parts the interpreter does not place reliably (before Python
        3.12), those of the whole f-string. ValueError for nodes that have no position.
        """
        return self._positions.sure_span(node, self.scopes.parents)

    def text_of(self, node: ast.AST) -> str:
        """The source text of a node, without what surrounds it (parentheses, comments)."""
        start, end = self.offsets(node)
        return self.source.text[start:end]

    @cached_property
    def cst(self) -> libcst.Module:
        """An empty libcst module with the file's indentation and line ends, to print nodes with."""
        from graphmend.ir.twins import printer

        return printer(self.source, self.tree)

    def cst_statement(self, statement: ast.stmt) -> libcst.CSTNode:
        """The libcst node of a statement: a small statement or a compound statement.

        SourceError where libcst cannot parse and keep the top-level statement around it.
        """
        return self._twins.of(statement)

    # --- worked out once ---------------------------------------------------------------

    @cached_property
    def _twins(self) -> TwinTrees:
        from graphmend.ir.twins import TwinTrees

        return TwinTrees(self.source, self.tree, self.line_offsets)

    @cached_property
    def _positions(self) -> Positions:
        return Positions(self.source.text)

    @cached_property
    def _resolver(self) -> Resolver:
        return Resolver(self.name, self.is_package, self.scopes)

    @cached_property
    def _identifiers(self) -> frozenset[str]:
        found: set[str] = set()
        for node in self.nodes:
            match node:
                case ast.Name():
                    found.add(node.id)
                case ast.Attribute():
                    found.add(node.attr)
                case ast.Constant():
                    pass
                case _:
                    found.update(_identifiers_in(node))
        return frozenset(found)

    @cached_property
    def _symbols(self) -> tuple[dict[ast.AST, Function], dict[ast.AST, ClassInfo]]:
        functions: dict[ast.AST, Function] = {}
        classes: dict[ast.AST, ClassInfo] = {}
        for scope in self.scopes.module.walk():
            node = scope.node
            owner, outer = _around(scope, functions, classes)
            if isinstance(node, ast.ClassDef) and self.scopes.scopes[node] is scope:
                name = qualname(node, self.scopes)
                classes[node] = ClassInfo(self, node, name, scope, outer)
            elif isinstance(node, FUNCTIONS) and self.scopes.scopes[node] is scope:
                name = qualname(node, self.scopes)
                own = getattr(node, "name", "<lambda>")
                function = Function(self, node, own, name, scope, owner, outer)
                functions[node] = function
                if owner is not None and not isinstance(node, ast.Lambda):
                    owner.add_method(function)
        return functions, classes

    @cached_property
    def _functions_by_node(self) -> dict[ast.AST, Function]:
        return self._symbols[0]

    @cached_property
    def _classes_by_node(self) -> dict[ast.AST, ClassInfo]:
        return self._symbols[1]

    def attributes_of(self, info: ClassInfo) -> dict[str, list[tuple[Function, ast.expr | None]]]:
        """Every attribute of `self` that the methods of a class bind, with where and what."""
        found: dict[str, list[tuple[Function, ast.expr | None]]] = {}
        for function in self._methods_by_class.get(info, ()):
            for name, site, value in _attributes_bound(function):
                found.setdefault(name, []).append((site, value))
        return found

    @cached_property
    def _methods_by_class(self) -> dict[ClassInfo, list[Function]]:
        found: dict[ClassInfo, list[Function]] = {}
        for function in self._symbols[0].values():
            if function.owner is not None:
                found.setdefault(function.owner, []).append(function)
        return found


_Symbol = TypeVar("_Symbol", Function, ClassInfo)


def _identifiers_in(node: ast.AST) -> Iterator[str]:
    for field in ("arg", "name", "asname", "module", "rest"):
        value = getattr(node, field, None)
        if isinstance(value, str):
            yield from value.split(".")
    for field in ("names", "kwd_attrs"):
        yield from (v for v in getattr(node, field, ()) if isinstance(v, str))


def _place(symbol: Function | ClassInfo) -> tuple[int, int]:
    return symbol.node.lineno, symbol.node.col_offset


def _by_name(symbols: list[_Symbol], secondary: Callable[[_Symbol], bool]) -> dict[str, _Symbol]:
    """Symbols by qualname; of several, the last that is not secondary has the plain key."""
    chosen: dict[str, _Symbol] = {}
    for symbol in symbols:
        if symbol.qualname not in chosen or not secondary(symbol):
            chosen[symbol.qualname] = symbol
    found: dict[str, _Symbol] = {}
    extra: dict[str, int] = {}
    for symbol in symbols:
        key = symbol.qualname
        if chosen[key] is not symbol:
            extra[key] = extra.get(key, 1) + 1
            key = f"{key}#{extra[key]}"
        found[key] = symbol
    return found


def _attributes_bound(function: Function) -> Iterator[tuple[str, Function, ast.expr | None]]:
    """Every attribute of `self` that a method, or a function inside it, binds: name, the
    function, and the value."""
    module, owner, name = function.module, function.owner, receiver(function)
    if owner is None or name is None:
        return
    stack: list[ast.AST] = children(function.node)[::-1]
    while stack:
        node = stack.pop()
        for target, value in attribute_stores(node):
            base = target.value
            if isinstance(base, ast.Name) and base.id == name:
                if module.scope_of(base).owner(name) is function.scope:
                    site = module.function_of(node) or function
                    yield target.attr, site, value
        inside = children(node)
        if inside:
            inside.reverse()
            stack += inside


def _around(
    scope: Scope, functions: dict[ast.AST, Function], classes: dict[ast.AST, ClassInfo]
) -> tuple[ClassInfo | None, Function | None]:
    """The class that a scope is directly in, and the innermost function around it."""
    outer = scope.parent
    owner: ClassInfo | None = None
    direct = True
    while outer is not None:
        if outer.kind is not ScopeKind.TYPE_PARAMETERS:
            if outer.node in functions:
                return owner, functions[outer.node]
            if direct:
                owner = classes.get(outer.node)
            direct = False
        outer = outer.parent
    return owner, None


def _in_body(function: FunctionNode, child: ast.AST) -> bool:
    if isinstance(function, ast.Lambda):
        return child is function.body
    return isinstance(child, ast.stmt)
