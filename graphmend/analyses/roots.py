"""Whose memory a value may share: arguments, attributes, globals, or something made here."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from graphmend.analyses import algebra, calls, selections
from graphmend.analyses.kind import Tag
from graphmend.analyses.kinds import Kinds
from graphmend.analyses.operators import module_facts
from graphmend.analyses.parameters import additions, default_of, parameter, passed_to
from graphmend.ir.module import ClassInfo, Function
from graphmend.ir.symbols import receiver

if TYPE_CHECKING:
    from graphmend.ir.dataflow import Definition


class Owner(StrEnum):
    """Where shared memory comes from."""

    ARGUMENT = "argument"
    ATTRIBUTE = "attribute"
    GLOBAL = "global"
    CLOSURE = "closure"
    FRESH = "fresh"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Root:
    """One origin of memory: an argument by name, `self.x`, a global, or the place it is made."""

    owner: Owner
    name: str

    @property
    def outside(self) -> bool:
        """Whether code outside the function can see the memory."""
        return self.owner is not Owner.FRESH


Roots = frozenset[Root]
_Key = tuple[ast.expr, Function, ast.stmt | None, bool]
NOWHERE: Roots = frozenset()
ANYWHERE: Roots = frozenset({Root(Owner.UNKNOWN, "?")})

# Builtins that hand on (a part of) an argument, and those whose result refers to the arguments.
_HANDS_OVER = frozenset("next max min sum getattr super vars abs round iter reversed".split())
_HOLDS = frozenset("list tuple set frozenset zip enumerate sorted filter map dict".split())
_MAX_PARTS = 4
_IMMUTABLE = frozenset({Tag.STATIC, Tag.SCALAR, Tag.LOGGER})


class RootFinder:
    """Roots of expressions of one project, memoised."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._known: dict[_Key, Roots] = {}
        self._names: dict[tuple[str, Function], Roots] = {}
        self._returned: dict[Function, Roots] = {}
        self._open: set[object] = set()
        self._seen: set[object] | None = None

    def of(
        self, expr: ast.expr, function: Function, stmt: ast.stmt | None = None, *, held: bool = True
    ) -> Roots:
        """The memory that the value of `expr` may be; with `held`, what it may refer to as well."""
        key = (expr, function, stmt, held)
        if key in self._known:
            return self._known[key]
        if self._seen is not None:
            # Part of another question, which collects everything that can be reached once.
            return NOWHERE if key in self._seen else self._visit(key)
        self._seen = set()
        found = self._known[key] = self._visit(key)
        self._seen = None
        return found

    def _visit(self, key: _Key) -> Roots:
        expr, function, stmt, held = key
        assert self._seen is not None
        self._seen.add(key)
        kind = self._kinds.of(expr, function, stmt)
        immutable = kind.tag in _IMMUTABLE
        return NOWHERE if immutable else self._find(expr, function, stmt, held)

    def _once(self, key: object) -> bool:
        """Whether the question under way has not been here before."""
        if self._seen is None or key in self._seen:
            return self._seen is None
        self._seen.add(key)
        return True

    def of_name(self, name: str, function: Function) -> Roots:
        """The roots of every value the local `name` may have anywhere in the function."""
        key = (name, function)
        if key not in self._names:
            if key in self._open:
                return ANYWHERE
            self._open.add(key)
            around, self._seen = self._seen, set()
            stores = [self._bound(d, function, True) for d in self._definitions(name, function)]
            self._seen = around
            self._open.discard(key)
            node = ast.Name(name, ast.Load())
            self._names[key] = NOWHERE.union(*stores) if stores else self._free(node, function)
        return self._names[key]

    def returned(self, function: Function) -> Roots:
        """The roots of what a call returns, in the function's own terms."""
        if function in self._returned:
            return self._returned[function]
        if function in self._open:
            return ANYWHERE
        self._open.add(function)
        around, self._seen = self._seen, set()
        found = NOWHERE.union(*(self.of(value, function) for value in self._results(function)))
        self._seen = around
        self._open.discard(function)
        self._returned[function] = found
        return found

    # -- expressions -----------------------------------------------------------------------

    def _find(self, expr: ast.expr, function: Function, stmt: ast.stmt | None, held: bool) -> Roots:
        def again(parts: Iterable[ast.expr], held: bool = held) -> Roots:
            return NOWHERE.union(*(self.of(p, function, stmt, held=held) for p in parts))

        match expr:
            case ast.Name():
                return self._name(expr, function, stmt, held)
            case ast.Attribute():
                return self._attribute(expr, function, stmt)
            case ast.Subscript(value=value, slice=index):
                kind = self._kinds.of(index, function, stmt)
                copied = kind.tag is Tag.TENSOR and self._is_tensor(value, function, stmt)
                return _made(expr) if copied else again([value], True)
            case ast.Call():
                return self._call(expr, function, stmt, held)
            case ast.BinOp(left=left, right=right):
                known = self._kinds.of(expr, function, stmt).tag in (Tag.TENSOR, Tag.NUMPY)
                return _made(expr) if known or not held else again([left, right]) | _made(expr)
            case ast.BoolOp(values=parts):
                return again(parts)
            case ast.IfExp(body=body, orelse=orelse):
                return again([body, orelse])
            case ast.NamedExpr(value=value) | ast.Starred(value=value):
                return again([value])
            case ast.Await() | ast.Yield() | ast.YieldFrom():
                return ANYWHERE
        return _made(expr) | (again(_contents(expr)) if held else NOWHERE)

    def _is_tensor(self, expr: ast.expr, function: Function, stmt: ast.stmt | None) -> bool:
        return self._kinds.of(expr, function, stmt).tag is Tag.TENSOR

    def _attribute(self, expr: ast.Attribute, function: Function, stmt: ast.stmt | None) -> Roots:
        name = function.module.qualified(expr, function)
        if name is not None:
            return frozenset({Root(Owner.GLOBAL, name)})
        if self._is_tensor(expr.value, function, stmt):
            return self.of(expr.value, function, stmt)
        own = frozenset({Root(Owner.ATTRIBUTE, ast.unparse(expr))})
        if isinstance(expr.value, ast.Name) and expr.value.id in function.params:
            return own
        return own | self.of(expr.value, function, stmt)

    # -- names -----------------------------------------------------------------------------

    def _name(self, name: ast.Name, function: Function, stmt: ast.stmt | None, held: bool) -> Roots:
        clause = self._kinds.clause(name, function.module)
        if clause is not None:
            return self.of(clause.iter, function, stmt)
        if not function.is_local(name.id):
            return self._free(name, function)
        if isinstance(function.node, ast.Lambda):
            return frozenset({Root(Owner.ARGUMENT, name.id)})
        where = stmt or function.module.statement_of(name)
        found = function.flow.definitions_reaching(where, name.id)
        roots = NOWHERE.union(*(self._bound(d, function, held) for d in found))
        contains = held and not self._is_tensor(name, function, stmt)
        return roots | (self._added(name.id, function) if contains else NOWHERE)

    def _free(self, name: ast.Name, function: Function) -> Roots:
        outer = function.outer
        while outer is not None:
            if outer.is_local(name.id):
                return frozenset({Root(Owner.CLOSURE, name.id)})
            outer = outer.outer
        return frozenset({Root(Owner.GLOBAL, name.id)})

    def _definitions(self, name: str, function: Function) -> Iterator[Definition]:
        seen = set()
        for statement in function.statements:
            for found in function.flow.definitions_reaching(statement, name):
                if found not in seen and function.is_local(name):
                    seen.add(found)
                    yield found

    def _bound(self, definition: Definition, function: Function, held: bool) -> Roots:
        if definition.kind == "parameter":
            immutable = parameter(self._kinds, definition.name, function).tag in _IMMUTABLE
            return NOWHERE if immutable else frozenset({Root(Owner.ARGUMENT, definition.name)})
        stmt, name = definition.stmt, definition.name
        if definition.value is not None:
            return self.of(definition.value, function, held=held)
        match stmt:
            case ast.Assign(value=value):
                return self.of(value, function)
            case ast.For(target=target, iter=iterated) if algebra.binds(target, name):
                return self.of(iterated, function)
            case ast.AugAssign(value=value):
                more = self.of(value, function) if held else NOWHERE
                return self._before(stmt, name, function, held) | more
            case ast.FunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
                return NOWHERE
        return ANYWHERE

    def _before(self, stmt: ast.AugAssign, name: str, function: Function, held: bool) -> Roots:
        """What an augmented assignment writes to: the name's value before it."""
        if not self._once((stmt, name, held)):
            return NOWHERE
        found = function.flow.definitions_reaching(stmt, name)
        return NOWHERE.union(*(self._bound(d, function, held) for d in found))

    def _added(self, name: str, function: Function) -> Roots:
        """What the function puts into the container `name`."""
        if not self._once(("added", name, function)):
            return NOWHERE
        put = [value for value, _ in additions(self._kinds, function).get(name, ())]
        return NOWHERE.union(*(self.of(value, function) for value in put))

    # -- calls -----------------------------------------------------------------------------

    def _call(self, node: ast.Call, function: Function, stmt: ast.stmt | None, held: bool) -> Roots:
        every = [*node.args, *(k.value for k in node.keywords)]
        if isinstance(node.func, ast.Attribute) and self._is_object(node.func, function):
            every.append(node.func.value)
        name = calls.qualified(self._kinds, node, function) or ""
        if name == selections.SELECT:
            sides = selections.side_calls(node, function)
            given_back = (self.at_call(self.returned(s), s, c, function, stmt) for s, c in sides)
            return _made(node).union(*given_back)
        ran = calls.operator(self._kinds, node, function, stmt)
        if ran is not None:
            found, given = ran
            shared = [a for p, a in given.items() if _position(found.params, p) in found.aliases]
            return _made(node) | self._all(shared, function, stmt)
        if name.startswith("builtins."):
            builtin = name.removeprefix("builtins.")
            handed = builtin in _HANDS_OVER or held and builtin in _HOLDS
            return _made(node) | (self._all(every, function, stmt) if handed else NOWHERE)
        reached = self._kinds.project.callee(node, function)
        if isinstance(reached, Function):
            return self.at_call(self.returned(reached), reached, node, function, stmt) | _made(node)
        if isinstance(reached, ClassInfo):
            return _made(node) | (self._all(every, function, stmt) if held else NOWHERE)
        layer = self._kinds.of(node.func, function, stmt)
        known = module_facts(layer.name) if layer.name is not None else None
        if known is not None and known.returns != "unknown":
            handed_back = node.args[:1] if known.aliases else []
            return _made(node) | self._all(handed_back, function, stmt)
        outside = name.startswith(("torch.", "math.", "numpy.", "logging."))
        return self._all(every, function, stmt) | (_made(node) if outside else ANYWHERE)

    def _results(self, function: Function) -> list[ast.expr]:
        """The expressions whose values a call returns or yields."""
        if isinstance(function.node, ast.Lambda):
            return [function.node.body]
        kinds = (ast.Return, ast.Yield, ast.YieldFrom)
        nodes = self._kinds.nodes(function)
        return [n.value for n in nodes if isinstance(n, kinds) and n.value is not None]

    def _is_object(self, func: ast.Attribute, function: Function) -> bool:
        return function.module.qualified(func, function) is None

    def _all(self, parts: list[ast.expr], function: Function, stmt: ast.stmt | None) -> Roots:
        return NOWHERE.union(*(self.of(part, function, stmt) for part in parts))

    def at_call(
        self,
        roots: Iterable[Root],
        callee: Function,
        call: ast.Call,
        function: Function,
        stmt: ast.stmt | None,
    ) -> Roots:
        """Roots in the callee's terms, said in those of the caller."""
        found = NOWHERE
        own = receiver(callee)
        path = self._receiver_path(call, function, stmt)
        for root in roots:
            head, _, rest = root.name.partition(".")
            if root.owner is Owner.FRESH:
                continue
            if root.owner in (Owner.GLOBAL, Owner.UNKNOWN):
                found |= {root}
            elif root.owner is Owner.CLOSURE:
                mine = callee.outer is function
                found |= self.of_name(root.name, function) if mine else {root}
            elif head == own:
                found |= {Root(Owner.ATTRIBUTE, _shortened(f"{path}.{rest}" if rest else path))}
            else:
                argument = passed_to(call, head, callee)
                if argument is not None:
                    found |= self.of(argument, function, stmt)
                elif default_of(callee, head) is None:
                    found |= ANYWHERE
        return found

    def _receiver_path(self, call: ast.Call, function: Function, stmt: ast.stmt | None) -> str:
        """How the caller names the object that is `self` in the callee."""
        if not isinstance(call.func, ast.Attribute):
            return ast.unparse(call.func)
        if isinstance(call.func.value, ast.Call):  # super().method(..)
            return receiver(function) or "self"
        # Calling `self.layer(x)` runs its forward: the receiver is the layer itself.
        kind = self._kinds.of(call.func, function, stmt)
        return ast.unparse(call.func if kind.tag is Tag.MODULE else call.func.value)


def _shortened(path: str) -> str:
    """Paths grow with every call on the way; what lies deep is told by where it starts."""
    parts = path.split(".")
    return path if len(parts) <= _MAX_PARTS else ".".join([*parts[:_MAX_PARTS], "*"])


def _contents(expr: ast.expr) -> list[ast.expr]:
    """What a display or comprehension puts into the container it makes."""
    match expr:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return parts
        case ast.Dict(values=parts):
            return parts
        case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part):
            return [part]
        case ast.DictComp(value=part):
            return [part]
    return []


def _position(params: tuple[str, ...], name: str) -> int:
    if name.startswith("#"):
        return int(name[1:])
    return params.index(name) if name in params else -1


def _made(node: ast.expr) -> Roots:
    where = f"{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}"
    return frozenset({Root(Owner.FRESH, where)})
