"""Legality of joining what two sides leave: values that a selection can stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from graphmend.analyses.aliases import Aliases
from graphmend.analyses.kind import UNKNOWN, Kind, Tag
from graphmend.analyses.selections import is_selection
from graphmend.facts import Facts
from graphmend.ir.callers import CallersUnknown
from graphmend.ir.cfg import Sentinel
from graphmend.ir.module import Function
from graphmend.ir.scopes import walk
from graphmend.ir.symbols import attribute_stores
from graphmend.rewrite.region import Region
from graphmend.rewrite.sides import Branch, Check, registers_buffer


@dataclass(frozen=True, slots=True)
class Value:
    """What a side leaves in one place: an expression where it is known, evaluated at `stmt`."""

    expression: ast.expr | None
    stmt: ast.stmt


def joins_values_of_one_kind(branch: Branch) -> str | None:
    """Two tensors can be joined; a number, None or another structure would change its type."""
    for one, other in joined(branch):
        reason = _unlike(one, other, branch)
        if reason is not None:
            return reason
    return None


def hands_out_no_argument(branch: Branch) -> str | None:
    """A caller that writes to what it gets back may mean the argument it gave.

    Callers in the project are traced with the function; others are not known.
    """
    function = branch.site.function
    callers = branch.facts.project.callers(function)
    if not isinstance(callers, CallersUnknown) and callers and function.name != "forward":
        return None
    for name in _returned_unchanged(branch):
        return f"`{name}` itself may be returned, which the caller may write in place"
    return None


def is_written_nowhere_later(branch: Branch) -> str | None:
    """A write to the joined value would have reached the tensor that one side is."""
    region = branch.region
    if region is None or region.outputs is None:
        return None
    function, node = branch.site.function, region.node
    names = [n for n in region.outputs if any(_passes(side, n) for side in branch.sides)]
    if not names:
        return None
    inside = {id(n) for s in branch.statements for n in walk(s)}
    for later in Aliases(branch.facts.effects).written_after(names, node, function):
        if id(later) not in inside and later is not node:
            text = ast.unparse(later).split("\n")[0]
            return f"`{text}` may write to what one side leaves as it is"
    return None


def joined(branch: Branch) -> Iterator[tuple[Value, Value]]:
    """The pairs of values that the sides leave in the same place.

    What follows and runs on each side leaves only tensors of what they chose.
    """
    region, after = branch.region, branch.after
    if region is None:
        if after is None:
            then, otherwise = branch.sides
            assert isinstance(then, ast.expr) and isinstance(otherwise, ast.expr)
            statement = branch.site.statement
            yield from _pairs(Value(then, statement), Value(otherwise, statement))
        return
    if region.outputs is None:
        then_values, other_values = (list(_returned(side, branch)) for side in branch.sides)
        for one in then_values:
            for other in other_values:
                yield from _pairs(one, other)
    else:
        left = set(region.outputs if after is None else after.outputs or ())
        for name, one, other in named_values(region):
            if name in left:
                yield from _pairs(one, other)
    yield from _stored(branch, region)


def named_values(region: Region) -> Iterator[tuple[str, Value, Value]]:
    """What the two sides of a branch leave in each of its outputs."""
    for name in region.outputs or ():
        one, other = (_left_in(name, side, region.node) for side in region.sides)
        yield name, one, other


def _pairs(one: Value, other: Value) -> Iterator[tuple[Value, Value]]:
    """Tuples of one length are joined item by item."""
    match one.expression, other.expression:
        case ast.Tuple(elts=left), ast.Tuple(elts=right) if len(left) == len(right):
            for a, b in zip(left, right, strict=True):
                yield from _pairs(Value(a, one.stmt), Value(b, other.stmt))
        case _:
            yield one, other


def _block(side: list[ast.stmt] | ast.expr) -> list[ast.stmt]:
    return side if isinstance(side, list) else []


def _returned(side: list[ast.stmt] | ast.expr, branch: Branch) -> Iterator[Value]:
    found = [n for s in _block(side) for n in walk(s) if isinstance(n, ast.Return)]
    for node in found:
        yield Value(node.value or ast.Constant(None), node)
    if not found:
        yield Value(ast.Constant(None), branch.site.statement)


def _left_in(name: str, block: list[ast.stmt], node: ast.If) -> Value:
    """What a name holds behind a side."""
    for statement in reversed(block):
        match statement:
            case ast.Assign(targets=[target], value=value):
                bound = dict(_bindings(target, value))
                if name in bound:
                    return Value(bound[name], statement)
        if any(isinstance(n, ast.Name) and n.id == name and _is_store(n) for n in walk(statement)):
            return Value(None, statement)
    return Value(ast.Name(name, ast.Load()), node)


def _bindings(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names that an assignment binds to expressions of its own."""
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for part, given in zip(targets, values, strict=True):
                yield from _bindings(part, given)


def _stored(branch: Branch, region: Region) -> Iterator[tuple[Value, Value]]:
    """The values of the attributes that a side stores; on the other side, what they held."""
    then, otherwise = (dict(_attribute_stores(_block(side))) for side in branch.sides)
    for target in dict.fromkeys([*then, *otherwise]):
        if target.rpartition(".")[2] not in branch.caches:
            held = Value(ast.parse(target, mode="eval").body, region.node)
            yield from _pairs(then.get(target, held), otherwise.get(target, held))


def _attribute_stores(block: list[ast.stmt]) -> Iterator[tuple[str, Value]]:
    for statement in (n for s in block for n in walk(s) if isinstance(n, ast.stmt)):
        for target, value in attribute_stores(statement):
            yield ast.unparse(target), Value(value, statement)
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute() as func, args=[name, value, *_])):
                if registers_buffer(statement) and isinstance(name, ast.Constant):
                    yield f"{ast.unparse(func.value)}.{name.value!s}", Value(value, statement)


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _passes(side: list[ast.stmt] | ast.expr, name: str) -> bool:
    """Whether a side leaves a name as it is, or gives it the value of another."""
    if isinstance(side, ast.expr):
        return isinstance(side, ast.Name)
    for statement in reversed(side):
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                return isinstance(value, ast.Name | ast.Attribute | ast.Subscript)
        if any(isinstance(n, ast.Name) and n.id == name and _is_store(n) for n in walk(statement)):
            return False
    return True


def are_python_values(one: Value, other: Value, function: Function, facts: Facts) -> bool:
    """Whether two values differ and one of them is a Python value, to which None counts."""
    kinds = [kind_of(value, function, facts) for value in (one, other)]
    texts = [_text(value) for value in (one, other)]
    if texts[0] == texts[1] and texts[0]:
        return False
    return any(kind.tag is Tag.STATIC for kind in kinds) and not all(kind.none for kind in kinds)


def _text(value: Value) -> str:
    return "" if value.expression is None else ast.unparse(value.expression)


def _unlike(one: Value, other: Value, branch: Branch) -> str | None:
    kinds = [kind_of(v, branch.site.function, branch.facts) for v in (one, other)]
    texts = [_text(value) for value in (one, other)]
    if texts[0] == texts[1] and texts[0] and all(k.tag is Tag.STATIC for k in kinds):
        return None
    if kinds[0].none != kinds[1].none:
        return "one side leaves None and the other a value"
    for kind, text in zip(kinds, texts, strict=True):
        if kind.tag is Tag.SCALAR:
            return f"`{text}` on one side is read back into Python"
        if kind.tag is Tag.STATIC and not kind.none:
            return "its sides leave Python values, and a tensor would take their place"
        if kind.tag in (Tag.NUMPY, Tag.MODULE, Tag.LOGGER):
            return f"`{text}` on one side is no tensor"
    lengths = {len(kind.items) for kind in kinds if kind.items is not None}
    if len(lengths) > 1:
        return "its sides leave sequences of different lengths"
    if _keys(one) != _keys(other):
        return "its sides leave dictionaries with different keys"
    return None


def _keys(value: Value) -> list[str] | None:
    """The keys of a dictionary that is written out; None for other values."""
    match value.expression:
        case ast.Dict(keys=keys):
            return ["**" if key is None else ast.unparse(key) for key in keys]
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            return [repr(keyword.arg) if keyword.arg else "**" for keyword in keywords]
    return None


def kind_of(value: Value, function: Function, facts: Facts) -> Kind:
    """The kind of a value that a side leaves."""
    if value.expression is None:
        return UNKNOWN
    return facts.kinds.of(value.expression, function, value.stmt)


def _returned_unchanged(branch: Branch) -> Iterator[str]:
    """Arguments that one side leaves as they are, and that the function then returns."""
    region = branch.region
    if region is not None and region.outputs is None:
        for one, other in joined(branch):
            for value in (one, other):
                if isinstance(value.expression, ast.Name) and _is_argument(value, branch):
                    if _text(one) != _text(other):
                        yield value.expression.id
        return
    names = _assigned_to(branch.site.statement) if region is None else region.outputs or ()
    for one, other in joined(branch):
        for value in (one, other):
            if isinstance(value.expression, ast.Name) and _is_argument(value, branch):
                handed_out = isinstance(branch.site.statement, ast.Return)
                if handed_out or any(_is_returned(name, branch) for name in names):
                    yield value.expression.id


def _assigned_to(statement: ast.stmt) -> tuple[str, ...]:
    """The names that the statement around a conditional expression binds."""
    return tuple(n.id for n in walk(statement) if isinstance(n, ast.Name) and _is_store(n))


def _is_argument(value: Value, branch: Branch) -> bool:
    function = branch.site.function
    assert isinstance(value.expression, ast.Name)
    name = value.expression.id
    if name not in function.params:
        return False
    reaching = function.flow.definitions_reaching(value.stmt, name)
    return any(definition.stmt is Sentinel.ENTRY for definition in reaching)


def _is_returned(name: str, branch: Branch) -> bool:
    """Whether a later return hands out what the branch has left in a name."""
    function, statement = branch.site.function, branch.site.statement
    made = {id(statement)} | {id(n) for s in branch.statements for n in walk(s)}
    for later in function.cfg.reachable_after(statement):
        if isinstance(later, ast.Return) and later.value is not None:
            parts = later.value.elts if isinstance(later.value, ast.Tuple) else [later.value]
            if any(_hands_out(part, later, name, made, function) for part in parts):
                return True
    return False


def _hands_out(
    part: ast.expr, stmt: ast.stmt, name: str, made: set[int], function: Function
) -> bool:
    """Whether an expression is a name as it was `made`, or a selection that was handed it."""
    if is_selection(part, function):
        return any(_hands_out(given, stmt, name, made, function) for given in part.args[3:])
    if not isinstance(part, ast.Name):
        return False
    found = function.flow.definitions_reaching(stmt, part.id)
    if part.id == name and any(id(definition.stmt) in made for definition in found):
        return True
    return any(
        isinstance(d.stmt, ast.Assign)
        and is_selection(d.stmt.value, function)
        and id(d.stmt) not in made
        and _hands_out(d.stmt.value, d.stmt, name, made | {id(d.stmt)}, function)
        for d in found
    )


CHECKS: tuple[Check, ...] = (
    joins_values_of_one_kind,
    is_written_nowhere_later,
    hands_out_no_argument,
)
