"""Effects of expressions, statements and functions; what may be evaluated early."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from graphmend.analyses import effect_calls, effect_stores, members
from graphmend.analyses.effect_set import (
    DATA,
    MAY_RAISE,
    NOTHING,
    SHAPE,
    EffectSet,
    Write,
    union,
)
from graphmend.analyses.kind import DATA as DATA_TAGS
from graphmend.analyses.kind import Kind, Tag
from graphmend.analyses.kinds import Kinds
from graphmend.analyses.resolution import Resolution
from graphmend.analyses.roots import RootFinder
from graphmend.ir.bindings import own_nodes
from graphmend.ir.module import ClassInfo, Function

__all__ = ["EffectSet", "Effects", "Write"]

_DIVISIONS = (ast.FloorDiv, ast.Mod)
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)
_EQUALITY = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)


class Effects:
    """Effects in one project, memoised."""

    def __init__(self, project: Resolution, kinds: Kinds) -> None:
        self.project = project
        self.kinds = kinds
        self.roots = RootFinder(kinds)
        self._functions: dict[Function, EffectSet] = {}
        self._open: dict[Function, EffectSet] = {}
        self._provisional: set[Function] = set()
        self._interim: dict[Function, EffectSet] = {}
        self._headers: dict[tuple[ast.stmt, Function], EffectSet] = {}

    # -- questions -------------------------------------------------------------------------

    def of_expr(
        self, expr: ast.expr, function: Function, stmt: ast.stmt | None = None
    ) -> EffectSet:
        """What evaluating `expr` may do; `stmt` is needed for expressions outside the tree."""
        self.kinds.of(expr, function, stmt)
        return union(self._own(node, function, stmt) for node in evaluated(expr))

    def of_statement(self, stmt: ast.stmt, function: Function) -> EffectSet:
        """What a statement itself may do; of a compound statement, its header."""
        key = (stmt, function)
        if key in self._headers:
            return self._headers[key]
        parts = [self.of_expr(expr, function) for expr in effect_stores.header(stmt)]
        found = union([*parts, effect_stores.stores(self, stmt, function)])
        if not self._open:
            self._headers[key] = found
        return found

    def of_function(self, function: Function) -> EffectSet:
        """What a call of the function may do, as its callers see it."""
        for known in (self._functions, self._interim):
            if function in known:
                return known[function]
        if function in self._open:
            self._provisional.add(function)
            return self._open[function]
        self._open[function] = found = NOTHING
        while True:
            found = self._body(function) | self._open[function]
            if found == self._open[function] or function not in self._provisional:
                break
            self._open[function] = found
            self._interim.clear()
        del self._open[function]
        self._provisional.discard(function)
        if self._provisional:
            self._interim[function] = found
        else:
            self._functions[function] = found
            self._interim.clear()
        return found

    def pure_here(self, expr: ast.expr, function: Function, stmt: ast.stmt | None = None) -> bool:
        """Whether evaluating `expr` has no effect but its value, or an exception."""
        return self.of_expr(expr, function, stmt).pure

    def can_evaluate_early(self, expr: ast.expr, function: Function, stmt: ast.stmt) -> bool:
        """Whether `expr` may be evaluated at `stmt` even where the program would not evaluate it.

        Then it has no effect, cannot raise, reads no data, and makes no size depend on data.
        """
        found = self.of_expr(expr, function, stmt)
        if not found.pure or not found.cannot_raise or found.reads_data or found.dynamic_shape:
            return False
        return all(
            function.flow.definitely_bound(stmt, n) for n in self._local_names(expr, function)
        )

    def writes_python_state(self, stmt: ast.stmt, function: Function) -> bool:
        """Whether a statement writes attributes, globals or containers that outlive the call."""
        writes = self.of_statement(stmt, function).writes
        return any(write.outside and not write.tensor for write in writes)

    def data_failure(self, stmt: ast.stmt, function: Function) -> str | None:
        """The first expression of a statement that may fail on tensor data, as text.

        What takes data into Python (`int(x)`) does not count: it runs when the graph is done.
        """
        for expr in effect_stores.header(stmt):
            for node in evaluated(expr):
                own = self._own(node, function, None)
                if own.may_raise_data and not own.reads_data:
                    return ast.unparse(node)
        if effect_stores.stores(self, stmt, function).may_raise_data:
            return ast.unparse(stmt)
        return None

    # -- functions -------------------------------------------------------------------------

    def _body(self, function: Function) -> EffectSet:
        node = function.node
        if isinstance(node, ast.Lambda):
            found = self.of_expr(node.body, function)
        else:
            found = union(self.of_statement(s, function) for s in function.statements)
        return replace(found, writes=frozenset(w for w in found.writes if w.outside))

    def written(
        self, expr: ast.expr, function: Function, stmt: ast.stmt | None, *, tensor: bool
    ) -> EffectSet:
        """A write in place to what `expr` stands for."""
        roots = self.roots.of(expr, function, stmt, held=False)
        return EffectSet(frozenset(Write(root, tensor) for root in roots))

    # -- expressions -----------------------------------------------------------------------

    def _own(self, node: ast.expr, function: Function, stmt: ast.stmt | None) -> EffectSet:
        """The effects of one node, without those of its parts."""

        def kind(part: ast.expr) -> Kind:
            return self.kinds.evaluate(part, function, stmt)

        match node:
            case ast.Call():
                return effect_calls.call(self, node, function, stmt)
            case ast.Attribute(ctx=ast.Load()):
                return self._attribute(node, function, kind)
            case ast.Subscript(value=value, slice=index):
                return self.index(kind(value), kind(index), index)
            case ast.BinOp(left=left, op=op, right=right):
                return self.operator(op, kind(left), right, function, stmt)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._truth(operand, function, stmt)
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return NOTHING if kind(operand).bool_dtype else SHAPE | MAY_RAISE
            case ast.UnaryOp(operand=ast.Constant()):
                return NOTHING
            case ast.UnaryOp():
                return SHAPE | MAY_RAISE
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._comparison([left, *others], ops, function, stmt)
            case ast.BoolOp(values=parts):
                return union(self._truth(part, function, stmt) for part in parts[:-1])
            case ast.IfExp(test=test):
                return self._truth(test, function, stmt)
            case ast.FormattedValue(value=value):
                return EffectSet(may_raise=True, reads_data=kind(value).tag in DATA_TAGS)
            case ast.comprehension(iter=iterated):
                return NOTHING if kind(iterated).folds else MAY_RAISE
            case ast.Await() | ast.Yield() | ast.YieldFrom():
                return EffectSet(unknown=frozenset({ast.unparse(node)}))
        return NOTHING

    def _attribute(
        self, node: ast.Attribute, function: Function, kind: Callable[[ast.expr], Kind]
    ) -> EffectSet:
        if function.module.qualified(node, function) is not None:
            return NOTHING
        owner = members.instance_of(self.kinds, node.value, function)
        if owner is not None:
            return self._own_attribute(owner, node.attr)
        base = kind(node.value)
        if base.sure_tensor:
            known = members.tensor_attribute(node.attr)
            return NOTHING if known else MAY_RAISE
        return NOTHING if node.attr in base.fields else MAY_RAISE

    def _own_attribute(self, owner: ClassInfo, name: str) -> EffectSet:
        found = members.property_of(self.kinds, owner, name)
        if found is not None:
            return self.of_function(found)
        return NOTHING if members.surely_set(self.kinds, owner, name) else MAY_RAISE

    def index(self, base: Kind, index: Kind, node: ast.expr) -> EffectSet:
        """Indexing: positions out of range and missing keys; from data where the index is."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        if all(isinstance(part, ast.Slice) or _is_whole(part) for part in parts):
            return SHAPE if base.tag is not Tag.STATIC else NOTHING
        array = base.tag in (Tag.TENSOR, Tag.NUMPY)
        masks = index.tag is Tag.TENSOR and index.bool_dtype
        from_data = index.reads_data or _holds_data(index) or array and index.tag is Tag.UNKNOWN
        found = EffectSet(may_raise_data=from_data and not masks, dynamic_shape=masks)
        return found | (SHAPE if array else MAY_RAISE)

    def operator(
        self,
        op: ast.operator,
        left: Kind,
        right: ast.expr,
        function: Function,
        stmt: ast.stmt | None,
    ) -> EffectSet:
        other = self.kinds.evaluate(right, function, stmt)
        sides = (left, other)
        data = any(side.reads_data for side in sides)
        scalars = Tag.TENSOR not in {side.tag for side in sides} and isinstance(op, ast.Div)
        divides = isinstance(op, _DIVISIONS) or scalars
        text = left.tag is Tag.STATIC and isinstance(op, ast.Mod)
        found = NOTHING
        if divides and data and not isinstance(right, ast.Constant) and not text:
            found = DATA if other.tag is not Tag.STATIC else MAY_RAISE
        if Tag.TENSOR not in {side.tag for side in sides}:
            return found | MAY_RAISE
        if isinstance(op, ast.MatMult):
            return found | SHAPE
        return found | (NOTHING if _fits(left, other, right, op) else SHAPE)

    def _comparison(
        self,
        sides: list[ast.expr],
        ops: list[ast.cmpop],
        function: Function,
        stmt: ast.stmt | None,
    ) -> EffectSet:
        kinds = [self.kinds.evaluate(side, function, stmt) for side in sides]
        found = NOTHING
        for i, op in enumerate(ops):
            found |= self._compared(op, kinds[i], kinds[i + 1], sides[i + 1])
        if len(ops) > 1 and any(kind.tag in DATA_TAGS for kind in kinds):
            found |= EffectSet(reads_data=True, may_raise_shape=True)
        return found

    def _compared(self, op: ast.cmpop, left: Kind, right: Kind, node: ast.expr) -> EffectSet:
        if isinstance(op, ast.In | ast.NotIn):
            reads = left.reads_data or right.reads_data or right.of_element().reads_data
            return EffectSet(may_raise=True, reads_data=reads)
        if isinstance(op, ast.Is | ast.IsNot):
            return NOTHING
        if Tag.TENSOR in (left.tag, right.tag):
            return NOTHING if _fits(left, right, node, None) else SHAPE
        if isinstance(op, _EQUALITY) and left.folds and right.folds:
            return NOTHING
        return MAY_RAISE

    def _truth(self, expr: ast.expr, function: Function, stmt: ast.stmt | None) -> EffectSet:
        kind = self.kinds.evaluate(expr, function, stmt)
        if kind.folds:
            return NOTHING
        reads = self.kinds.truth_reads_data(expr, function, stmt)
        sized = kind.tag is Tag.SCALAR or kind.zero_dim
        return EffectSet(may_raise_shape=not sized, reads_data=reads)

    def _local_names(self, expr: ast.expr, function: Function) -> Iterator[str]:
        bound = {n.id for n in ast.walk(expr) if isinstance(n, ast.Name) and _is_store(n)}
        for node in ast.walk(expr):
            if isinstance(node, ast.Name) and node.id not in bound:
                if function.is_local(node.id) or node.id in function.free_names():
                    yield node.id


def _is_store(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _fits(left: Kind, right: Kind, node: ast.expr, op: ast.operator | None) -> bool:
    """Whether an elementwise operator with these operands cannot fail on shape or dtype."""
    tensors = [k for k in (left, right) if k.tag is Tag.TENSOR]
    numbers = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    if isinstance(op, _BITWISE):
        return all(t.bool_dtype and t.zero_dim for t in tensors) and len(tensors) == 2
    if isinstance(op, ast.Sub) and not numbers:
        return False  # not defined for bool tensors
    if not all(t.sure_tensor for t in tensors):
        return False
    return numbers and op is None or len(tensors) == 2 and all(t.zero_dim for t in tensors)


def _holds_data(kind: Kind) -> bool:
    return kind.tag is Tag.CONTAINER and kind.of_element().reads_data


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (None, ...)


def evaluated(expr: ast.expr) -> Iterator[ast.expr]:
    """The nodes that evaluating `expr` evaluates: all but the bodies of lambdas."""
    for node in own_nodes(expr):
        if isinstance(node, ast.expr | ast.comprehension):
            yield node  # type: ignore[misc]
