"""Which sub-expressions of an outlined statement stay at its site, as arguments."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import libcst as cst

from graphmend.analyses.kind import Tag
from graphmend.detect.calls import effect_call
from graphmend.facts import Facts
from graphmend.ir.module import Function
from graphmend.rewrite.layout import ast_twin, on_one_line
from graphmend.rewrite.module_state import changing_globals, stored_attributes
from graphmend.rewrite.names import fresh, telling_name
from graphmend.rewrite.refusal import Refused

_MAY_RAISE = (
    cst.Attribute,
    cst.BinaryOperation,
    cst.BooleanOperation,
    cst.Call,
    cst.Comparison,
    cst.Subscript,
    cst.UnaryOperation,
)


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter of the outlined function and the text of its argument at the site."""

    parameter: str
    code: str


class Lift(cst.CSTTransformer):
    """Replaces what can be evaluated at the site by parameters, and collects the arguments.

    Walks a statement in program order. `_conditional` counts the enclosing constructs that may
    skip what is visited; `_may_have_raised` says that something left in the outlined function,
    and visited earlier, can raise: from then on only what cannot raise is taken out, lest the
    two exceptions change places.
    """

    def __init__(self, statement: ast.stmt, function: Function, facts: Facts) -> None:
        super().__init__()
        self._statement = statement
        self._function = function
        self._facts = facts
        self._taken = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
        self._own = bound_names(statement)
        self._conditional = 0
        self._may_have_raised = False
        self._replacements: dict[cst.CSTNode, cst.BaseExpression] = {}
        self._callees: set[cst.CSTNode] = set()
        self._moved: cst.CSTNode | None = None
        self._read: set[str] = set()  # attributes that the site reads in any case
        self._parameters: dict[str, str] = {}
        self._changing = changing_globals(function, facts) - receivers(statement, function, facts)
        self._stored = stored_attributes(function.module.tree)

    @property
    def arguments(self) -> list[Argument]:
        """The arguments collected so far, in order of evaluation."""
        return [Argument(parameter, code) for code, parameter in self._parameters.items()]

    # -- what may be skipped -------------------------------------------------------------------

    def visit_BooleanOperation_right(self, node: cst.BooleanOperation) -> None:
        self._conditional += 1

    def leave_BooleanOperation_right(self, node: cst.BooleanOperation) -> None:
        self._conditional -= 1

    def visit_IfExp_body(self, node: cst.IfExp) -> None:
        self._conditional += 1

    def leave_IfExp_body(self, node: cst.IfExp) -> None:
        self._conditional -= 1

    def visit_IfExp_orelse(self, node: cst.IfExp) -> None:
        self._conditional += 1

    def leave_IfExp_orelse(self, node: cst.IfExp) -> None:
        self._conditional -= 1

    def visit_If_body(self, node: cst.If) -> None:
        self._conditional += 1

    def leave_If_body(self, node: cst.If) -> None:
        self._conditional -= 1

    def visit_If_orelse(self, node: cst.If) -> None:
        self._conditional += 1

    def leave_If_orelse(self, node: cst.If) -> None:
        self._conditional -= 1

    def visit_Assert_msg(self, node: cst.Assert) -> None:
        self._conditional += 1

    def leave_Assert_msg(self, node: cst.Assert) -> None:
        self._conditional -= 1

    def visit_Comparison_comparisons(self, node: cst.Comparison) -> None:
        self._conditional += len(node.comparisons) > 1

    def leave_Comparison_comparisons(self, node: cst.Comparison) -> None:
        self._conditional -= len(node.comparisons) > 1

    # -- names that are no expressions ---------------------------------------------------------

    def visit_Attribute_attr(self, node: cst.Attribute) -> None:
        self._replacements[node.attr] = node.attr

    def visit_Arg_keyword(self, node: cst.Arg) -> None:
        if node.keyword is not None:
            self._replacements[node.keyword] = node.keyword

    def visit_AssignTarget(self, node: cst.AssignTarget) -> bool:
        return False

    def visit_Expr(self, node: cst.Expr) -> None:
        self._moved = node.value  # the call that is to be deferred

    # -- the decision --------------------------------------------------------------------------

    def on_visit(self, node: cst.CSTNode) -> bool:
        if node in self._replacements:
            return False
        if not isinstance(node, cst.BaseExpression):
            return super().on_visit(node)
        if isinstance(node, cst.FormattedString):
            return True
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            self._callees.add(node.func)
        expression = self._parse(node)
        if expression is None or node in self._callees or node is self._moved:
            return super().on_visit(node)
        names = _free_names(expression)
        if isinstance(node, cst.Name | cst.Lambda | cst.BaseComp):
            self._keep(names)
            return False
        if not self._local(names) and not self._depends_on_time(expression):
            return False
        if not names & self._own and self._can_lift(expression):
            code = self._code(on_one_line(node))
            self._replacements[node] = cst.Name(self._parameter(expression, code))
            if not self._conditional and not self._may_have_raised:
                self._read |= _attributes_read(expression)
            return False
        if isinstance(expression, ast.Attribute) and not self._local(names):
            raise Refused(f"`{ast.unparse(expression)}` may be written before the end")
        return super().on_visit(node)

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        if original_node in self._replacements:
            return self._replacements[original_node]
        if isinstance(original_node, _MAY_RAISE) and original_node not in self._callees:
            expression = self._parse(original_node)
            if expression is not None and not self._cannot_raise(expression):
                self._may_have_raised = True
        return super().on_leave(original_node, updated_node)  # type: ignore[return-value]

    def leave_FormattedStringExpression_format_spec(
        self, node: cst.FormattedStringExpression
    ) -> None:
        if node.format_spec is None:
            return
        expression = self._parse(node.expression)
        if expression is not None:
            kind = self._facts.kinds.of(expression, self._function, self._statement)
            self._may_have_raised |= kind.tag not in (Tag.STATIC, Tag.SCALAR) and not kind.zero_dim

    def visit_FormattedStringExpression(self, node: cst.FormattedStringExpression) -> bool:
        if node.equal is None:
            return True
        # `{x=}` shows the text of x: it must stay as it is.
        expression = self._parse(node.expression)
        self._keep(_free_names(expression) if expression is not None else set())
        return False

    def _can_lift(self, expression: ast.expr) -> bool:
        facts, where = self._facts, (self._function, self._statement)
        if _is_text(expression) or facts.kinds.reads_data(expression, *where):
            return False
        if self._conditional or self._may_have_raised:
            if ast.unparse(expression) in self._read:
                return facts.effects.pure_here(expression, *where)
            if not facts.effects.can_evaluate_early(expression, *where):
                return False
            # A tensor for a message is worth an argument of its own only where it is a reduction:
            # otherwise the outlined function reads it from the names it needs anyway.
            # What an attribute holds is passed rather than the object: nothing is computed for it.
            kind = facts.kinds.of(expression, *where)
            held = isinstance(expression, ast.Attribute) and (
                kind.tag is Tag.TENSOR or expression.attr in self._stored
            )
            return kind.tag is Tag.STATIC or kind.zero_dim or held
        return facts.effects.pure_here(expression, *where)

    def _cannot_raise(self, expression: ast.expr) -> bool:
        match expression:
            case ast.Call(func=ast.Attribute(value=value, attr="item"), args=[]):
                return self._facts.kinds.of(value, self._function, self._statement).zero_dim
        return self._facts.effects.can_evaluate_early(expression, self._function, self._statement)

    # -- bookkeeping ---------------------------------------------------------------------------

    def _keep(self, names: set[str]) -> None:
        """Leave an expression in the outlined function; the local names it reads are passed."""
        flow = self._function.flow
        for name in sorted(self._local(names) - self._own):
            own = name not in self._changing
            if own and self._conditional and not flow.definitely_bound(self._statement, name):
                raise Refused(f"`{name}` may be unbound where the statement stands")
            self._parameters.setdefault(name, name)

    def _parameter(self, expression: ast.expr, code: str) -> str:
        if code not in self._parameters:
            is_test = isinstance(expression, ast.Compare | ast.BoolOp)
            wish = telling_name(expression) or ("condition" if is_test else "value")
            self._parameters[code] = fresh(wish, self._taken)
        return self._parameters[code]

    def _local(self, names: set[str]) -> set[str]:
        """The names among `names` that mean nothing, or something else, at module level."""
        function = self._function
        return {
            name
            for name in names
            if function.is_local(name)
            or name in function.free_names()
            or name in self._own
            or name in self._changing
        }

    def _depends_on_time(self, expression: ast.expr) -> bool:
        """Whether an expression of module-level names may have another value after the graph."""
        facts, where = self._facts, (self._function, self._statement)
        return any(
            isinstance(node, ast.Attribute)
            and node.attr in self._stored
            or isinstance(node, ast.Call)
            and facts.kinds.of(node, *where).tag is not Tag.LOGGER
            for node in ast.walk(expression)
        )

    def _code(self, node: cst.CSTNode) -> str:
        return self._function.module.cst.code_for_node(node)

    def _parse(self, node: cst.CSTNode) -> ast.expr | None:
        """The ast twin of an expression; None for nodes that are no expression of their own."""
        return ast_twin(node, self._function.module.cst)


def receivers(statement: ast.stmt, function: Function, facts: Facts) -> set[str]:
    """The names of the loggers that a statement writes to."""
    return {
        node.func.value.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and effect_call(node, function, statement, facts) is not None
    }


def bound_names(statement: ast.stmt) -> set[str]:
    """The names a statement binds in its function; comprehensions have variables of their own."""
    inner = {
        id(name)
        for node in ast.walk(statement)
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
    }
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in inner
    }


def _free_names(node: ast.AST, bound: frozenset[str] = frozenset()) -> set[str]:
    """The names an expression reads from around it: without comprehension and lambda variables."""
    match node:
        case ast.Name(id=name):
            return {name} - bound if isinstance(node.ctx, ast.Load) else set()
        case ast.Lambda(args=args, body=body):
            own = {a.arg for a in ast.walk(args) if isinstance(a, ast.arg)}
            return _free_names(args, bound) | _free_names(body, bound | own)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            found: set[str] = set()
            for clause in node.generators:
                found |= _free_names(clause.iter, bound)
                bound |= {n.id for n in ast.walk(clause.target) if isinstance(n, ast.Name)}
                found |= _free_names(clause.target, bound)
                for condition in clause.ifs:
                    found |= _free_names(condition, bound)
            parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            return found.union(*(_free_names(part, bound) for part in parts))
    return set().union(*(_free_names(child, bound) for child in ast.iter_child_nodes(node)))


def _attributes_read(expression: ast.expr) -> set[str]:
    """The attributes that evaluating an expression reads, if none of it can be skipped."""
    nodes = list(ast.walk(expression))
    if any(isinstance(n, ast.BoolOp | ast.IfExp | ast.Lambda | ast.comprehension) for n in nodes):
        return set()
    callees = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
    return {ast.unparse(n) for n in nodes if isinstance(n, ast.Attribute) and id(n) not in callees}


def _is_text(expression: ast.expr) -> bool:
    """Expressions that make a text: they stay with the statement, for whoever reads it."""
    match expression:
        case ast.JoinedStr() | ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str())):
            return True
        case ast.BinOp(left=left, right=right):
            return _is_text(left) or _is_text(right)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()))):
            return True
        case ast.Constant():
            return isinstance(expression.value, str)
    return False
