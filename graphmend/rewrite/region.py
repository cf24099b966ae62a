"""The single-entry region that a branch opens: its two sides, what they read, what they leave.

Either the sides meet again behind the branch and leave values in names, or both end in a return;
then what follows an early return belongs to the other side.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphmend.ir.module import Function
from graphmend.ir.scopes import Scope, ScopeKind, walk
from graphmend.rewrite.refusal import Refused

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FRAME_READERS = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})


@dataclass(frozen=True, slots=True)
class Region:
    """A branch, and what has to be known to make functions of its sides.

    `rest` follows the branch and belongs to its else side. `inputs` are the names that a side
    reads from before the branch, `outputs` those read behind it; None where both sides return.
    """

    node: ast.If
    rest: tuple[ast.stmt, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...] | None

    @property
    def sides(self) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """The statements of the two sides."""
        return self.node.body, [*self.node.orelse, *self.rest]

    @property
    def last(self) -> ast.stmt:
        """The last statement of the region."""
        return self.rest[-1] if self.rest else self.node


def region_of(node: ast.If, function: Function) -> Region:
    """The region that a branch opens. Raises `Refused` where it is not of one of the two forms."""
    rest, returns = _shape(node, function)
    sides = (node.body, [*node.orelse, *rest])
    bound = [_bound(side, function) for side in sides]
    outputs: tuple[str, ...] = ()
    if not returns:
        live = function.flow.live_after(node)
        outputs = tuple(n for n in dict.fromkeys([*bound[0], *bound[1]]) if n in live)
    _require_own(set(bound[0]) | set(bound[1]), function)
    inputs = set().union(*(_read_from_before(side, function) for side in sides))
    for side in sides:
        inputs |= {name for name in outputs if not _surely_binds(side, name)}
    given = _names_bound_in(node.test)
    for name in sorted(inputs):
        _require_bound(name, node, given, function)
    return Region(node, rest, tuple(sorted(inputs, key=_self_first)), None if returns else outputs)


@dataclass(frozen=True, slots=True)
class Continuation:
    """Statements behind a branch that use values it has `given`, and are to run on each side.

    `inputs` are the other names they read from before, `outputs` those read behind them; None
    where they end in a return.
    """

    statements: tuple[ast.stmt, ...]
    given: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...] | None

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of the function that the statements become."""
        return (*self.inputs, *self.given)

    @property
    def last(self) -> ast.stmt:
        """The last of the statements."""
        return self.statements[-1]


def following(statement: ast.stmt, function: Function) -> tuple[ast.stmt, ...]:
    """The statements behind `statement` in its block."""
    parent = function.module.parent(statement)
    assert parent is not None
    for _, value in ast.iter_fields(parent):
        if isinstance(value, list) and statement in value:
            return tuple(value[value.index(statement) + 1 :])
    raise AssertionError("a statement is in a block of its parent")


def continuation(
    branch: ast.stmt, given: Sequence[str], count: int, function: Function
) -> Continuation:
    """The next `count` statements behind a branch that leaves `given`.

    Raises `Refused` where they cannot become a function.
    """
    statements = following(branch, function)[:count]
    returns = any(map(_leaves, statements))
    if returns and not _ends(statements):
        raise Refused("what uses its numbers returns on some paths only")
    bound = _bound(statements, function)
    _require_own({*bound, *given}, function)
    outputs: tuple[str, ...] = ()
    if not returns:
        live = function.flow.live_after(statements[-1])
        outputs = tuple(n for n in dict.fromkeys([*given, *bound]) if n in live)
    read = _read_from_before(statements, function)
    read |= {name for name in outputs if not _surely_binds(statements, name)}
    for name in sorted(read - set(given)):
        _require_bound(name, branch, set(), function)
    inputs = tuple(sorted(read - set(given), key=_self_first))
    return Continuation(statements, tuple(given), inputs, None if returns else outputs)


def inputs_of(choice: ast.IfExp, function: Function) -> tuple[str, ...]:
    """The variables that the two values of a conditional expression are made of.

    Raises `Refused` where one of them may be unbound.
    """
    names = {n.id for side in (choice.body, choice.orelse) for n in _variables(side, function)}
    statement = function.module.statement_of(choice)
    for name in sorted(names):
        _require_bound(name, statement, _names_bound_in(choice.test), function)
    return tuple(sorted(names, key=_self_first))


def _self_first(name: str) -> tuple[bool, str]:
    return name != "self", name


# -- the shape -------------------------------------------------------------------------------------


def _shape(node: ast.If, function: Function) -> tuple[tuple[ast.stmt, ...], bool]:
    """What follows the branch and belongs to its else side; whether both sides return."""
    if not any(map(_leaves, [*node.body, *node.orelse])):
        return (), False
    if not _ends(node.body):
        raise Refused("it returns on some paths only, and goes on on others")
    if _ends(node.orelse):
        return (), True
    behind, to_end = _on_the_way_out(node, function)
    if not to_end and not _ends(behind):
        raise Refused("it returns from inside a block behind which the function goes on")
    return behind, True


def _on_the_way_out(node: ast.stmt, function: Function) -> tuple[tuple[ast.stmt, ...], bool]:
    """What follows a statement, and whether that leads to the end of the function.

    Behind a side whose other side returns, what follows their branch belongs to it.
    """
    behind = following(node, function)
    parent = function.module.parent(node)
    if parent is function.node:
        return behind, True
    if isinstance(parent, ast.If) and not _ends(behind):
        other = parent.orelse if node in parent.body else parent.body
        if _ends(other):
            further, to_end = _on_the_way_out(parent, function)
            return (*behind, *further), to_end
    return behind, False


def _leaves(node: ast.AST) -> bool:
    """Whether a statement holds a return of this function."""
    if isinstance(node, ast.Return):
        return True
    return not isinstance(node, _DEFINITIONS) and any(map(_leaves, ast.iter_child_nodes(node)))


def _ends(block: Sequence[ast.stmt]) -> bool:
    """Whether control surely does not come out at the end of a block."""
    match block[-1] if block else None:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=body, orelse=orelse):
            return _ends(body) and _ends(orelse)
        case ast.With(body=body):
            return _ends(body)
    return False


# -- what cannot move ------------------------------------------------------------------------------


def require_movable(part: ast.stmt | ast.expr, function: Function) -> None:
    """Refuse what means something else, or leads elsewhere, in a function of its own."""
    if isinstance(part, ast.expr) and _names_bound_in(part):
        raise Refused("it binds a name inside an expression")
    for node in walk(part):
        match node:
            case ast.Await() | ast.Yield() | ast.YieldFrom():
                raise Refused("it awaits or yields on one side")
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                raise Refused("it defines a function or class on one side")
            case ast.Try() | ast.TryStar():
                raise Refused("it handles exceptions on one side")
            case ast.Import() | ast.ImportFrom() | ast.Match() | ast.Delete():
                what = type(node).__name__.lower()
                raise Refused(f"it holds a statement on one side that cannot move: {what}")
            case ast.Global() | ast.Nonlocal():
                raise Refused("it declares names of another scope on one side")
            case ast.Raise(exc=None):
                raise Refused("it re-raises the exception being handled")
            case ast.Name(id=name) if name in _FRAME_READERS and not function.is_local(name):
                raise Refused(f"`{name}` would see another frame")
            case ast.Name(id=name, ctx=ast.Store()) if _is_global(node, function):
                raise Refused(f"`{name}` belongs to another scope")
            case ast.Name(id="__class__"):
                raise Refused("`__class__` means the class only inside its methods")
    if _jumps_out(part, inside=False):
        raise Refused("it leaves a loop that goes on around it")


def _is_global(name: ast.Name, function: Function) -> bool:
    """Whether a name that the function binds is one of the module, by a declaration."""
    owner = function.module.scopes.name_scopes[name].owner(name.id)
    return owner is None or owner.parent is None


def _jumps_out(node: ast.AST, inside: bool) -> bool:
    """Whether a break or continue leads out of `node`."""
    if isinstance(node, ast.Break | ast.Continue):
        return not inside
    inside = inside or isinstance(node, _LOOPS)
    return any(_jumps_out(child, inside) for child in ast.iter_child_nodes(node))


def _require_own(bound: set[str], function: Function) -> None:
    """Names that closures see, or that belong to another scope, cannot be those of a side."""
    scope = function.scope
    for inner in scope.walk():
        if inner is scope or inner.kind is ScopeKind.COMPREHENSION:
            continue
        for name in sorted(bound):
            if inner.mangle(name) in inner.names and inner.owner(name) is scope:
                raise Refused(f"`{name}` is read by a function inside this one")
    for name in sorted(bound):
        if not function.is_local(name):
            raise Refused(f"`{name}` belongs to another scope")


def _require_bound(name: str, node: ast.stmt, given: set[str], function: Function) -> None:
    if name in given or not function.is_local(name) or isinstance(function.node, ast.Lambda):
        return
    if not function.flow.definitely_bound(node, name):
        raise Refused(f"`{name}` may be unbound where the branch stands")


# -- names -----------------------------------------------------------------------------------------


def _variables(part: ast.AST, function: Function) -> Iterator[ast.Name]:
    """The names in `part` that are variables of a function around it."""
    scopes = function.module.scopes.name_scopes
    inside = {id(node) for node in walk(part)}
    for node in walk(part):
        if isinstance(node, ast.Name):
            owner: Scope | None = scopes[node].owner(node.id)
            if owner is None or owner.parent is None or id(owner.node) in inside:
                continue
            yield node


def _bound(side: Sequence[ast.stmt], function: Function) -> list[str]:
    """The names that a side binds, in order of their first binding."""
    return [
        node.id
        for statement in side
        for node in _variables(statement, function)
        if isinstance(node.ctx, ast.Store)
    ]


def _names_bound_in(expression: ast.expr) -> set[str]:
    return {n.target.id for n in ast.walk(expression) if isinstance(n, ast.NamedExpr)}


def _read_from_before(side: Sequence[ast.stmt], function: Function) -> set[str]:
    """The names whose value from before the region a side may read."""
    inside = {id(node) for statement in side for node in walk(statement)}
    names: set[str] = set()
    for statement in (s for top in side for s in _statements(top)):
        for name in _reads(statement, function):
            reaching = function.flow.definitions_reaching(statement, name)
            if any(id(definition.stmt) not in inside for definition in reaching):
                names.add(name)
    return names


def _reads(statement: ast.stmt, function: Function) -> set[str]:
    """The variables that a statement's own header reads."""
    found: set[str] = set()
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        found.add(statement.target.id)
    for part in _own_parts(statement):
        found |= {n.id for n in _variables(part, function) if isinstance(n.ctx, ast.Load)}
    return found


def _own_parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that are no statements of its blocks."""
    for _, value in ast.iter_fields(statement):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST) and not isinstance(item, ast.stmt):
                yield item


def _statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    return (node for node in walk(statement) if isinstance(node, ast.stmt))


def _surely_binds(block: Sequence[ast.stmt], name: str) -> bool:
    """Whether every way through a block binds the name."""
    return any(_binds(statement, name) for statement in block)


def _binds(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.If(body=body, orelse=orelse):
            return _surely_binds(body, name) and _surely_binds(orelse, name)
        case ast.With(items=items, body=body):
            targets = [item.optional_vars for item in items if item.optional_vars is not None]
            return any(_stores(t, name) for t in targets) or _surely_binds(body, name)
        case ast.Assign(targets=targets):
            return any(_stores(target, name) for target in targets)
        case ast.AnnAssign(target=target, value=value):
            return value is not None and _stores(target, name)
        case ast.AugAssign(target=target):
            return _stores(target, name)
    return False


def _stores(target: ast.expr, name: str) -> bool:
    match target:
        case ast.Name(id=found):
            return found == name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return any(_stores(part, name) for part in parts)
        case ast.Starred(value=value):
            return _stores(value, name)
    return False
