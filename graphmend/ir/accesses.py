"""Where a function reads and binds its own names, node by node of its control-flow graph."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import StrEnum

from graphmend.ir.cfg import Node, Sentinel
from graphmend.ir.scopes import Binding, BindingKind, Scope, ScopeKind
from graphmend.ir.symbols import Function, unpacked

_FRAME_READERS = frozenset({"locals", "vars", "eval", "exec", "dir"})


class DefinitionKind(StrEnum):
    """How a definition binds its name."""

    PARAMETER = "parameter"
    ASSIGN = "assign"
    AUGMENTED = "augmented"
    UNPACK = "unpack"
    FOR = "for"
    WITH = "with"
    EXCEPT = "except"
    IMPORT = "import"
    FUNCTION = "function"
    CLASS = "class"
    WALRUS = "walrus"
    MATCH = "match"
    TYPE = "type"
    EXTERNAL = "external"


_EARLY = frozenset({DefinitionKind.WITH, DefinitionKind.MATCH})


@dataclass(frozen=True, slots=True)
class Definition:
    """A binding of a name at a node; ENTRY for parameters and for what comes from outside.

    `value` is the bound expression where it is written down whole (assignments, unpacking of a
    literal tuple, walrus), else None. EXTERNAL stands for bindings that this function does not
    make: globals, builtins, variables of enclosing functions, and rebindings by others of names
    declared global or nonlocal.
    """

    name: str
    stmt: Node
    value: ast.expr | None
    kind: DefinitionKind


@dataclass(slots=True)
class NodeAccess:
    """What one node does to local names.

    `sure` bindings always happen when the node completes; `early` are those that reads of the
    node itself may see already (a walrus, a capture that a guard reads).
    """

    reads: list[ast.Name] = field(default_factory=list)
    early: list[Definition] = field(default_factory=list)
    sure: list[Definition] = field(default_factory=list)
    maybe: list[Definition] = field(default_factory=list)
    deletes: set[str] = field(default_factory=set)


class Accesses:
    """All accesses of a function to the names that it binds (parameters included)."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.scope = function.scope
        self.nodes: dict[Node, NodeAccess] = {node: NodeAccess() for node in function.cfg.nodes}
        self.deferred: dict[str, list[ast.Name]] = {}
        self.volatile: set[str] = set()
        self.undone: set[str] = set()
        for name, bindings in self.scope.bindings.items():
            for binding in bindings:
                self._bind(name, binding)
        for scope in self.scope.walk():
            later = _runs_later(scope, self.scope)
            for name, names in scope.names.items():
                if self._is_own(scope, name):
                    self._read(name, names, later)
        self.all_read = self._reads_frame()

    def _is_own(self, scope: Scope, name: str) -> bool:
        """Whether `name` in `scope` is the function's variable, or a global it declares."""
        own = self.scope
        if scope is own:
            return name in own.bindings
        return scope.owner(name) is own

    def _bind(self, name: str, binding: Binding) -> None:
        if binding.remote:
            self.volatile.add(name)
            if binding.kind is BindingKind.DELETE:
                self.undone.add(name)
            return
        if name in self.scope.globals or name in self.scope.nonlocals:
            self.volatile.add(name)
            self.undone.add(name)
        if binding.kind is BindingKind.PARAMETER:
            definition = Definition(name, Sentinel.ENTRY, None, DefinitionKind.PARAMETER)
            self.nodes[Sentinel.ENTRY].sure.append(definition)
            return
        node = self.function.cfg.node_of(binding.node)
        access = self.nodes[node]
        if binding.kind is BindingKind.DELETE:
            access.deletes.add(name)
        elif not (isinstance(binding.node, ast.AnnAssign) and binding.node.value is None):
            self._define(access, node, name, binding)

    def _define(self, access: NodeAccess, node: Node, name: str, binding: Binding) -> None:
        walrus = binding.node if isinstance(binding.node, ast.NamedExpr) else None
        if walrus is not None:
            definition = Definition(name, node, binding.value, DefinitionKind.WALRUS)
            certain = isinstance(node, Sentinel) or self._always_runs(walrus, node)
            (access.sure if certain else access.maybe).append(definition)
            access.early.append(definition)
            return
        definition = Definition(name, node, self._value(name, node, binding), _kind(node, binding))
        access.sure.append(definition)
        if definition.kind in _EARLY or name in self._read_by_targets(node):
            access.early.append(definition)

    def _value(self, name: str, node: Node, binding: Binding) -> ast.expr | None:
        if binding.value is not None or not isinstance(node, ast.Assign):
            return binding.value
        pairs = [pair for target in node.targets for pair in _unpack(target, node.value)]
        found = [value for spelled, value in pairs if self.scope.mangle(spelled) == name]
        return found[0] if len(found) == 1 else None

    def _read_by_targets(self, node: Node) -> set[str]:
        """The names in subscripts and attributes of targets: `i, a[i] = ..` binds i first."""
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.For | ast.AsyncFor):
            targets = [node.target]
        names = (n for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
        return {self.scope.mangle(n.id) for n in names if isinstance(n.ctx, ast.Load)}

    def _always_runs(self, walrus: ast.expr, node: Node) -> bool:
        """Whether a walrus is evaluated whenever its statement completes."""
        if isinstance(node, ast.Assert | ast.For | ast.AsyncFor):
            return False  # asserts may be switched off; a loop's header runs many times
        child: ast.AST = walrus
        for parent in self.function.module.ancestors(walrus):
            if parent is node:
                return True
            match parent:
                case ast.BoolOp() if child is not parent.values[0]:
                    return False
                case ast.IfExp() if child is not parent.test:
                    return False
                case ast.Compare() if child in parent.comparators[1:]:
                    return False
                case ast.comprehension() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                    return False
                case ast.GeneratorExp() | ast.Lambda() | ast.stmt():
                    return False
            child = parent
        return False

    def _read(self, name: str, names: list[ast.Name], later: bool) -> None:
        for node in names:
            augmented = isinstance(self.function.module.parent(node), ast.AugAssign)
            if isinstance(node.ctx, ast.Store) and not augmented:
                continue
            if later:
                self.deferred.setdefault(name, []).append(node)
            else:
                self.nodes[self.function.cfg.node_of(node)].reads.append(node)

    def _reads_frame(self) -> bool:
        """Whether the function, or one inside it, may read all its locals at once."""
        return any(not _FRAME_READERS.isdisjoint(scope.names) for scope in self.scope.walk())


def _runs_later(scope: Scope, function: Scope) -> bool:
    """Whether code of `scope` may run at another time than the statement that holds it."""
    here: Scope | None = scope
    while here is not None and here is not function:
        if here.kind is ScopeKind.FUNCTION or isinstance(here.node, ast.GeneratorExp):
            return True
        if here.kind is ScopeKind.TYPE_PARAMETERS:
            return True
        here = here.parent
    return False


def _unpack(target: ast.expr, value: ast.expr | None) -> list[tuple[str, ast.expr | None]]:
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    if isinstance(target, ast.Starred):
        return _unpack(target.value, None)
    found = []
    if isinstance(target, ast.Tuple | ast.List):
        for item, part in zip(target.elts, unpacked(target, value), strict=True):
            found += _unpack(item, part)
    return found


_KINDS: dict[BindingKind, DefinitionKind] = {
    BindingKind.IMPORT: DefinitionKind.IMPORT,
    BindingKind.FUNCTION: DefinitionKind.FUNCTION,
    BindingKind.CLASS: DefinitionKind.CLASS,
    BindingKind.ASSIGN: DefinitionKind.ASSIGN,
}


def _kind(node: Node, binding: Binding) -> DefinitionKind:
    if binding.kind in _KINDS:
        return _KINDS[binding.kind]
    match node:
        case ast.For() | ast.AsyncFor():
            return DefinitionKind.FOR
        case ast.With() | ast.AsyncWith():
            return DefinitionKind.WITH
        case ast.ExceptHandler():
            return DefinitionKind.EXCEPT
        case ast.match_case():
            return DefinitionKind.MATCH
        case ast.AugAssign():
            return DefinitionKind.AUGMENTED
        case ast.Assign():
            return DefinitionKind.UNPACK
    return DefinitionKind.TYPE
