"""The single-entry region that a branch opens: its two sides, what they read, what they leave.

Either the sides meet again behind the branch and leave values in names, or both end in a return;
then what follows an early return belongs to the other side.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from graphmend.ir.module import Function
from graphmend.ir.scopes import ScopeKind
from graphmend.rewrite.refusal import Refused
from graphmend.rewrite.variables import (
    bound_in,
    bound_in_expression,
    passes_exceptions,
    read_from_before,
    surely_binds,
    variables,
)

_MAY_MOVE = (ast.Expr, ast.If, ast.Raise, ast.Assert)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


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


def region_of(node: ast.If, function: Function, settled: bool = False) -> Region:
    """The region that a branch opens. Raises `Refused` where it is not of one of the two forms.

    `settled` says that whatever moves out of the function is out of it.
    """
    rest, returns = _shape(node, function)
    sides = (node.body, [*node.orelse, *rest])
    bound = [bound_in(side, function) for side in sides]
    outputs: tuple[str, ...] = ()
    if not returns:
        live = function.flow.live_after(node)
        outputs = tuple(n for n in dict.fromkeys([*bound[0], *bound[1]]) if n in live)
    _require_own(set(bound[0]) | set(bound[1]), function, settled)
    inputs = set().union(*(read_from_before(side, function) for side in sides))
    for side in sides:
        inputs |= {name for name in outputs if not surely_binds(side, name, function)}
    given = bound_in_expression(node.test)
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
    branch: ast.stmt,
    given: Sequence[str],
    count: int,
    function: Function,
    settled: bool = False,
) -> Continuation:
    """The next `count` statements behind a branch that leaves `given`.

    Raises `Refused` where they cannot become a function. For `settled` see `region_of`.
    """
    statements = following(branch, function)[:count]
    returns = any(map(_leaves, statements))
    if returns and not _ends(statements, function):
        raise Refused("what uses its numbers returns on some paths only")
    bound = bound_in(statements, function)
    _require_own({*bound, *given}, function, settled)
    outputs: tuple[str, ...] = ()
    if not returns:
        live = function.flow.live_after(statements[-1])
        outputs = tuple(n for n in dict.fromkeys([*given, *bound]) if n in live)
    read = read_from_before(statements, function)
    read |= {name for name in outputs if not surely_binds(statements, name, function)}
    for name in sorted(read - set(given)):
        _require_bound(name, branch, set(), function)
    inputs = tuple(sorted(read - set(given), key=_self_first))
    return Continuation(statements, tuple(given), inputs, None if returns else outputs)


def inputs_of(choice: ast.IfExp, function: Function) -> tuple[str, ...]:
    """The variables that the two values of a conditional expression are made of.

    Raises `Refused` where one of them may be unbound.
    """
    names = {n.id for side in (choice.body, choice.orelse) for n in variables(side, function)}
    statement = function.module.statement_of(choice)
    for name in sorted(names):
        _require_bound(name, statement, bound_in_expression(choice.test), function)
    return tuple(sorted(names, key=_self_first))


def _self_first(name: str) -> tuple[bool, str]:
    return name != "self", name


# -- the shape -------------------------------------------------------------------------------------


def _shape(node: ast.If, function: Function) -> tuple[tuple[ast.stmt, ...], bool]:
    """What follows the branch and belongs to its else side; whether both sides return."""
    if not any(map(_leaves, [*node.body, *node.orelse])):
        return (), False
    if not _ends(node.body, function):
        raise Refused("it returns on some paths only, and goes on on others")
    if _ends(node.orelse, function):
        return (), True
    behind, to_end = _on_the_way_out(node, function)
    if not to_end and not _ends(behind, function):
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
    if isinstance(parent, ast.If) and not _ends(behind, function):
        other = parent.orelse if node in parent.body else parent.body
        if _ends(other, function):
            further, to_end = _on_the_way_out(parent, function)
            if further and node in parent.body:
                raise Refused("what follows it stands behind the other side of a branch around it")
            return (*behind, *further), to_end
    return behind, False


def _leaves(node: ast.AST) -> bool:
    """Whether a statement holds a return of this function."""
    if isinstance(node, ast.Return):
        return True
    return not isinstance(node, _DEFINITIONS) and any(map(_leaves, ast.iter_child_nodes(node)))


def _ends(block: Sequence[ast.stmt], function: Function) -> bool:
    """Whether control surely does not come out at the end of a block."""
    match block[-1] if block else None:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=body, orelse=orelse):
            return _ends(body, function) and _ends(orelse, function)
        case ast.With(items=items, body=body):
            passes = all(passes_exceptions(item.context_expr, function) for item in items)
            return passes and _ends(body, function)
    return False


def _require_own(bound: set[str], function: Function, settled: bool) -> None:
    """Names that closures see, or that belong to another scope, cannot be those of a side.

    A closure in a guard or output call may move out with it.
    """
    scope = function.scope
    for inner in scope.walk():
        if inner is scope or inner.kind is ScopeKind.COMPREHENSION:
            continue
        if not settled and isinstance(function.module.statement_of(inner.node), _MAY_MOVE):
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
