"""Value kinds: whether an expression is static, a tensor, or a Python value read from one.

Flow-sensitive for the locals of a function, by its reaching definitions; summaries for calls of
known functions. Kinds are what the tracer would most likely see, not proofs: parameters without
an annotation are presumed tensors where the function uses them as such.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING

from graphmend.analyses import algebra, calls, members, parameters, returns
from graphmend.analyses.annotations import annotated
from graphmend.analyses.kind import (
    NONE,
    PRESUMED,
    SCALAR,
    STATIC,
    UNKNOWN,
    Kind,
    Tag,
    container,
    join,
    tuple_of,
)
from graphmend.analyses.resolution import Resolution
from graphmend.analyses.solver import Solver, Table
from graphmend.ir.module import ClassInfo, Function, Module

if TYPE_CHECKING:
    from graphmend.ir.dataflow import Definition

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_OPAQUE = frozenset({"with", "except", "import", "function", "class", "match", "type"})
_TENSORLIKE = (Tag.TENSOR, Tag.MIXED)


class Kinds:
    """Kinds of expressions of one project, memoised."""

    def __init__(self, project: Resolution) -> None:
        self.project = project
        self._solver = Solver()
        self._loose: dict[ast.AST, ast.AST] = {}
        self._nodes: dict[Function, list[ast.AST]] = {}
        self.evidence: dict[Function, frozenset[str]] = {}
        self.additions: dict[Function, dict[str, list[tuple[ast.expr, bool]]]] = {}
        self.registered: dict[ClassInfo, frozenset[str]] = {}

    # -- questions -------------------------------------------------------------------------

    def of(self, expr: ast.expr, function: Function | None, stmt: ast.stmt | None = None) -> Kind:
        """The kind of an expression of `function`.

        An expression that is not part of the module's tree needs `stmt`, where it is read.
        """
        self._attach(expr, function)
        return self.evaluate(expr, function, stmt)

    def truth_reads_data(
        self, expr: ast.expr, function: Function | None, stmt: ast.stmt | None = None
    ) -> bool:
        """Whether testing the truth of `expr` reads tensor data on some path."""
        self._attach(expr, function)
        match expr:
            case ast.BoolOp(values=parts):
                return any(self.truth_reads_data(part, function, stmt) for part in parts)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.truth_reads_data(operand, function, stmt)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                parts = [test, body, orelse]
                return any(self.truth_reads_data(part, function, stmt) for part in parts)
        return self.of(expr, function, stmt).reads_data

    def static(
        self, expr: ast.expr, function: Function | None, stmt: ast.stmt | None = None
    ) -> bool:
        """Whether evaluating `expr` and testing its truth is known to fold while tracing."""
        self._attach(expr, function)
        match expr:
            case ast.BoolOp(values=parts):
                return all(self.static(part, function, stmt) for part in parts)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.static(operand, function, stmt)
        return self.of(expr, function, stmt).folds and not self.reads(expr, function, stmt)

    def reads_data(
        self, expr: ast.expr, function: Function | None, stmt: ast.stmt | None = None
    ) -> bool:
        """Whether evaluating `expr` takes tensor data into Python, or its value was taken so."""
        if self.of(expr, function, stmt).tag in (Tag.SCALAR, Tag.MIXED):
            return True
        return bool(self.reads(expr, function, stmt))

    def reads(
        self, expr: ast.expr, function: Function | None, stmt: ast.stmt | None = None
    ) -> list[ast.expr]:
        """The parts of `expr` whose evaluation alone takes tensor data into Python."""
        self._attach(expr, function)
        return [node for node in _own_expressions(expr) if self._reads(node, function, stmt)]

    def is_scalar_read(
        self, call: ast.Call, function: Function | None, stmt: ast.stmt | None = None
    ) -> bool:
        """Whether the call itself takes tensor data into Python: `x.item()`, `int(x)`, `any(x)`."""
        self._attach(call, function)
        return calls.reads(self, call, function, stmt)

    def operator(
        self, call: ast.Call, function: Function | None, stmt: ast.stmt | None = None
    ) -> str | None:
        """The name under which the operator that a call runs has facts, if it is one."""
        self._attach(call, function)
        ran = calls.operator(self, call, function, stmt)
        return ran[0].name if ran is not None else None

    def has_data_shape(
        self, call: ast.Call, function: Function | None, stmt: ast.stmt | None = None
    ) -> bool:
        """Whether the call runs an operator that, called so, gives sizes that depend on data."""
        self._attach(call, function)
        ran = calls.operator(self, call, function, stmt)
        return ran is not None and calls.grows(self, *ran, function, stmt)

    def is_mask_index(
        self, node: ast.Subscript, function: Function | None, stmt: ast.stmt | None = None
    ) -> bool:
        """Whether a tensor or array is indexed by a boolean one: a result of unknown size."""
        if self.of(node.value, function, stmt).tag not in (Tag.TENSOR, Tag.NUMPY):
            return False
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return any(self.of(part, function, stmt).bool_dtype for part in parts)

    def returns(self, function: Function) -> Kind:
        """What a call of the function gives."""
        return self.compute(("returns", function), lambda: returns.summary(self, function))

    # -- evaluation ------------------------------------------------------------------------

    def evaluate(
        self, expr: ast.expr, function: Function | None, stmt: ast.stmt | None = None
    ) -> Kind:
        """`of`, for use while definitions of the function are still being worked out."""
        if function is None:
            return self._evaluate(expr, function, stmt)
        if stmt is not None and _stands_in(expr, stmt, function.module):
            stmt = None  # the answer that is known from going through the function
        table, key = self._table(function), (expr, stmt)
        found = table.expressions.get(key)
        if found is not None:
            return found
        return table.expression(key, lambda: self._evaluate(expr, function, stmt))

    def compute(self, key: Hashable, work: Callable[[], Kind]) -> Kind:
        """The memoised result of a question that several functions share."""
        return self._solver.between(key, work)

    def local(self, key: Hashable, function: Function, work: Callable[[], Kind]) -> Kind:
        """The memoised result of a question about one function's own definitions."""
        return self._table(function).expression(key, work)

    def nodes(self, function: Function) -> list[ast.AST]:
        """All nodes of the function's body but those of functions defined in it."""
        if function not in self._nodes:
            self._nodes[function] = list(function.nodes)
        return self._nodes[function]

    def _table(self, function: Function) -> Table:
        return self._solver.table(function, self._sweep)

    def _sweep(self, function: Function) -> None:
        """Work through a function in source order, so that chains of definitions stay shallow."""
        for statement in function.statements:
            if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return):
                if statement.value is not None:
                    self.evaluate(statement.value, function)

    def _evaluate(self, expr: ast.expr, function: Function | None, stmt: ast.stmt | None) -> Kind:
        def again(part: ast.expr) -> Kind:
            return self.evaluate(part, function, stmt)

        match expr:
            case ast.Constant(value=value):
                return NONE if value is None else STATIC
            case ast.Name():
                return self._name(expr, function, stmt)
            case ast.Attribute():
                return members.attribute(self, expr, function, again)
            case ast.Call():
                return calls.call(self, expr, function, stmt, again)
            case ast.BinOp():
                return algebra.binary(expr.op, again(expr.left), again(expr.right))
            case ast.UnaryOp(op=ast.Not()):
                return algebra.python_truth(again(expr.operand))
            case ast.UnaryOp():
                return again(expr.operand)
            case ast.Compare():
                return algebra.compare(expr, again)
            case ast.BoolOp(values=parts):
                return join(map(again, parts))
            case ast.IfExp():
                return join([again(expr.body), again(expr.orelse)])
            case ast.NamedExpr() | ast.Starred():
                return again(expr.value)
            case ast.Tuple(elts=parts) if not any(isinstance(p, ast.Starred) for p in parts):
                return tuple_of(map(again, parts))
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return container(join(algebra.spread(part, again(part)) for part in parts))
            case ast.Dict(values=parts):
                return container(join(map(again, parts)))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return container(again(expr.elt))
            case ast.DictComp():
                return container(again(expr.value))
            case ast.Subscript():
                return algebra.subscript(expr, again(expr.value), again)
            case ast.Slice():
                parts = [p for p in (expr.lower, expr.upper, expr.step) if p is not None]
                return join([STATIC, *map(again, parts)])
            case ast.JoinedStr(values=parts):
                formatted = [p.value for p in parts if isinstance(p, ast.FormattedValue)]
                return SCALAR if any(again(p).reads_data for p in formatted) else STATIC
        return UNKNOWN

    # -- names -----------------------------------------------------------------------------

    def parent(self, node: ast.AST, module: Module) -> ast.AST | None:
        """The node around `node`, which need not be part of the tree."""
        return module.parent(node) or self._loose.get(node)

    def _attach(self, expr: ast.expr, function: Function | None) -> None:
        """Note the parents inside an expression that was parsed apart from the module."""
        if function is None or function.module.parent(expr) is not None or expr in self._loose:
            return
        for node in ast.walk(expr):
            for child in ast.iter_child_nodes(node):
                if not isinstance(child, ast.expr_context | ast.operator | ast.cmpop):
                    self._loose[child] = node

    def clause(self, name: ast.Name, module: Module) -> ast.comprehension | None:
        """The clause of a comprehension around `name` that binds it."""
        inner: ast.AST = name
        node = self.parent(name, module)
        clause: ast.comprehension | None = None
        while node is not None and not isinstance(node, ast.stmt | ast.Lambda):
            if isinstance(node, ast.comprehension):
                clause = node if inner is node.iter else None
            elif isinstance(node, _COMPREHENSIONS):
                seen = node.generators
                if clause in seen:
                    seen = seen[: seen.index(clause)]
                for found in reversed(seen):
                    if algebra.binds(found.target, name.id):
                        return found
                clause = None
            inner, node = node, self.parent(node, module)
        return None

    def _name(self, name: ast.Name, function: Function | None, stmt: ast.stmt | None) -> Kind:
        if name.id in ("__name__", "__debug__", "__file__"):
            return STATIC
        if function is None:
            return UNKNOWN
        clause = self.clause(name, function.module)
        if clause is not None:
            each = self.evaluate(clause.iter, function, stmt).of_element()
            return algebra.part_of(clause.target, name.id, each)
        if not function.is_local(name.id):
            return members.free(self, name, function)
        found = self._reaching(name, function, stmt or function.module.statement_of(name))
        if found.tag is Tag.UNKNOWN and parameters.used_as_tensor(self, name.id, function):
            return PRESUMED
        return parameters.with_added(self, name.id, function, found)

    def _reaching(self, name: ast.Name, function: Function, stmt: ast.stmt) -> Kind:
        if isinstance(function.node, ast.Lambda):
            return parameters.parameter(self, name.id, function)
        definitions = function.flow.definitions_reaching(stmt, name.id)
        return (
            join(self.of_definition(d, function) for d in definitions) if definitions else UNKNOWN
        )

    def of_definition(self, definition: Definition, function: Function) -> Kind:
        """The kind that a definition gives its name."""
        work = lambda: self._definition(definition, function)  # noqa: E731
        return self._table(function).definition(definition, work)

    def _definition(self, definition: Definition, function: Function) -> Kind:
        if definition.kind == "parameter":
            return parameters.parameter(self, definition.name, function)
        if not isinstance(definition.stmt, ast.stmt) or definition.kind in _OPAQUE:
            return UNKNOWN
        if definition.kind == "walrus" and definition.value is not None:
            return self.evaluate(definition.value, function)
        return self.bound_by(definition.stmt, definition.name, function, definition.value)

    def bound_by(
        self, stmt: ast.AST, name: str, function: Function, value: ast.expr | None
    ) -> Kind:
        """The kind that the statement binds `name` to."""
        match stmt:
            case ast.Assign(targets=targets):
                for target in targets:
                    if algebra.binds(target, name):
                        return algebra.part_of(target, name, self.evaluate(stmt.value, function))
            case ast.AnnAssign() if algebra.binds(stmt.target, name):
                promised = annotated(stmt.annotation, function.module, function)
                if promised.tag is not Tag.UNKNOWN or stmt.value is None:
                    return promised
                return self.evaluate(stmt.value, function)
            case ast.AugAssign() if algebra.binds(stmt.target, name):
                before = self._before(stmt, name, function)
                return algebra.binary(stmt.op, before, self.evaluate(stmt.value, function))
            case ast.For() | ast.AsyncFor() if algebra.binds(stmt.target, name):
                each = self.evaluate(stmt.iter, function).of_element()
                return algebra.part_of(stmt.target, name, each)
            case ast.With() | ast.AsyncWith() | ast.FunctionDef() | ast.ClassDef():
                return UNKNOWN
        return self.evaluate(value, function) if value is not None else UNKNOWN

    def _before(self, stmt: ast.AugAssign, name: str, function: Function) -> Kind:
        definitions = function.flow.definitions_reaching(stmt, name)
        return join(self.of_definition(d, function) for d in definitions)

    # -- reads -----------------------------------------------------------------------------

    def _reads(self, node: ast.expr, function: Function | None, stmt: ast.stmt | None) -> bool:
        match node:
            case ast.Call():
                return calls.reads(self, node, function, stmt)
            case ast.Compare(ops=ops):
                sides = [self.of(e, function, stmt) for e in (node.left, *node.comparators)]
                member = any(isinstance(op, algebra.MEMBERSHIP) for op in ops)
                held = any(side.tag in _TENSORLIKE or algebra.holds_tensors(side) for side in sides)
                reading = (len(ops) > 1 or member) and held
                return reading and self.of(node, function, stmt).reads_data
            case ast.BoolOp(values=parts):
                return any(self.truth_reads_data(part, function, stmt) for part in parts[:-1])
            case ast.IfExp(test=test) | ast.UnaryOp(op=ast.Not(), operand=test):
                return self.truth_reads_data(test, function, stmt)
            case ast.FormattedValue(value=value):
                return self.of(value, function, stmt).tag in _TENSORLIKE
        return False


def _stands_in(expr: ast.expr, stmt: ast.stmt, module: Module) -> bool:
    """Whether `stmt` is the statement of the tree that evaluates `expr`."""
    around: ast.AST | None = expr
    while isinstance(around, ast.expr):
        around = module.parent(around)
    if isinstance(around, ast.stmt | None):
        return around is stmt
    return module.statement_of(around) is stmt


def _own_expressions(expr: ast.expr) -> Iterator[ast.expr]:
    """An expression and its parts, without the bodies of lambdas."""
    stack: list[ast.AST] = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.expr):
            yield node
        if not isinstance(node, ast.Lambda):
            stack.extend(ast.iter_child_nodes(node))
