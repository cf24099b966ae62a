"""The test of a branch as one value: what Python's `and`, `or` and `not` would read stays a tensor.

Static operands stay in Python, where they fold. A tensor operand behind another tensor is
evaluated although Python might skip it, so it must be free of effects and unable to raise.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from graphmend.analyses.kind import Tag
from graphmend.facts import Facts
from graphmend.ir.module import Function
from graphmend.rewrite.refusal import Refused

_JOINERS = {ast.And: "both", ast.Or: "either"}
_WORDS = {ast.And: " and ", ast.Or: " or "}
_SIGNS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
}
# The helper that stands for a builtin, and what the builtin says of nothing.
_BUILTIN_TRUTHS = {"builtins.any": ("either", "False"), "builtins.all": ("both", "True")}


@dataclass
class Predicate:
    """The text of a test whose value is a tensor or a static flag, and the helpers it calls.

    `inverted`: its truth is the opposite of the test's.
    """

    text: str
    inverted: bool
    helpers: set[str] = field(default_factory=set)


def predicate(
    test: ast.expr,
    function: Function,
    statement: ast.stmt,
    facts: Facts,
    name_of: Callable[[str], str],
    fresh: Callable[[str], str],
    invertible: bool,
) -> Predicate:
    """The test of a branch in a form that does not break the graph.

    `invertible` sides can change places, so that `not` needs no helper; `name_of` gives what a
    helper of the runtime is called in the module, `fresh` a new name. Raises `Refused` where there
    is no such form.
    """
    writer, inverted = _Writer(function, statement, facts, name_of, fresh), False
    while invertible and isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, inverted = test.operand, not inverted
    return Predicate(writer.truth(test), inverted, writer.helpers)


class _Writer:
    """Writes expressions that stand for the truth of others."""

    def __init__(
        self,
        function: Function,
        statement: ast.stmt,
        facts: Facts,
        name_of: Callable[[str], str],
        fresh: Callable[[str], str],
    ) -> None:
        self._function = function
        self._statement = statement
        self._facts = facts
        self._name_of = name_of
        self._fresh = fresh
        self.helpers: set[str] = set()

    def truth(self, node: ast.expr) -> str:
        """An expression with the truth of `node` that reads no tensor data."""
        if not self._reads_data(node):
            return self._text(node)
        match node:
            case ast.BoolOp(op=op, values=values):
                return self._junction(type(op), values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._helper("negated", [self.truth(operand)])
            case ast.Compare(ops=[_, _, *_]):
                return self._chain(node)
            case ast.NamedExpr():
                self._require_tensor(node.value)
                return f"({self._text(node)})"
            case ast.Call(args=[operand], keywords=[]) if self._calls(node, "builtins.bool"):
                return self.truth(operand)
            case ast.Call(args=[operands], keywords=[]) if self._calls(node, *_BUILTIN_TRUTHS):
                return self._builtin(node, operands)
            case ast.Call(func=ast.Attribute(value=value, attr="item"), args=[], keywords=[]):
                if self._facts.kinds.of(value, self._function, self._statement).zero_dim:
                    return self.truth(value)
        self._require_tensor(node)
        return self._text(node)

    def _junction(self, op: type[ast.boolop], values: list[ast.expr]) -> str:
        """Leading static operands stay in Python; the others become operands of a helper."""
        first = next(i for i, value in enumerate(values) if self._reads_data(value))
        for value in values[first + 1 :]:
            self._require_early(value)
        rest = [self.truth(value) for value in values[first:]]
        last = rest[0] if len(rest) == 1 else self._helper(_JOINERS[op], rest)
        static = [self._operand(value) for value in values[:first]]
        return _WORDS[op].join([*static, last])

    def _chain(self, node: ast.Compare) -> str:
        """`a < b < c` is `a < b and b < c`, with `b` evaluated once."""
        sides = [node.left, *node.comparators]
        links = [
            ast.Compare(left=left, ops=[op], comparators=[right])
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
        ]
        for link in links:
            self._require_tensor(link)
        first = [self._text(side) for side in sides]  # where a side is evaluated
        again = list(first)  # where it is used once more
        for i, middle in enumerate(sides[1:-1], start=1):
            if not isinstance(middle, ast.Name | ast.Constant):
                again[i] = self._fresh("middle")
                first[i] = f"({again[i]} := {first[i]})"
        for link, middle in zip(links[1:], sides[1:-1], strict=True):
            if not self._compares_safely(middle, link.comparators[0]):
                self._require_early(link)
        texts = [
            f"{again[i] if i else first[0]} {_SIGNS[type(op)]} {first[i + 1]}"
            for i, op in enumerate(node.ops)
        ]
        return self._helper("both", texts)

    def _compares_safely(self, middle: ast.expr, right: ast.expr) -> bool:
        """Whether comparing a value that is there already with a number cannot fail."""
        kind = self._facts.kinds.of(middle, self._function, self._statement)
        number = isinstance(right, ast.Constant) and isinstance(right.value, int | float)
        return kind.sure_tensor and number

    def _builtin(self, node: ast.Call, operands: ast.expr) -> str:
        """`any` or `all` of a list or tuple, whose elements Python evaluates before it asks."""
        helper, empty = _BUILTIN_TRUTHS[
            self._facts.module.qualified(node.func, self._function) or ""
        ]
        match operands:
            case ast.List(elts=parts) | ast.Tuple(elts=parts) if not any(
                isinstance(part, ast.Starred) for part in parts
            ):
                return self._helper(helper, [empty, *(self.truth(part) for part in parts)])
            case ast.ListComp(elt=element):
                self._require_tensor(element)
                return self._helper(helper, [empty, f"*{self._text(operands)}"])
        raise Refused(f"`{ast.unparse(node)}` reads tensor data into Python")

    # -- what an operand must be -----------------------------------------------------------------

    def _require_tensor(self, node: ast.expr) -> None:
        """Refuse operands that make a Python value of tensor data themselves."""
        where = (self._function, self._statement)
        kinds = self._facts.kinds
        for part in ast.walk(node):
            if not isinstance(part, ast.expr):
                continue
            if isinstance(part, ast.Call):
                if kinds.is_scalar_read(part, *where) or (
                    self._calls(part, *_BUILTIN_TRUTHS) and kinds.reads_data(part, *where)
                ):
                    raise Refused(f"`{ast.unparse(part)}` reads tensor data into Python")
            if isinstance(part, ast.BoolOp | ast.IfExp | ast.comprehension | ast.Lambda):
                raise Refused(f"its test is too involved: `{ast.unparse(node)}`")
            if isinstance(part, ast.Compare) and any(
                isinstance(op, ast.In | ast.NotIn) for op in part.ops
            ):
                raise Refused("it asks whether a value is in a container or tensor")
        if kinds.of(node, *where).tag in (Tag.SCALAR, Tag.NUMPY):
            raise Refused(f"`{ast.unparse(node)}` is read back into Python before the branch")

    def _require_early(self, node: ast.expr) -> None:
        """Refuse an operand that Python might skip and that shows when it is evaluated."""
        effects = self._facts.effects
        for part in self._leaves(node):
            if not effects.can_evaluate_early(part, self._function, self._statement):
                text = ast.unparse(part)
                raise Refused(f"`{text}` cannot be evaluated where Python might skip it")

    def _leaves(self, node: ast.expr) -> list[ast.expr]:
        match node:
            case ast.BoolOp(values=values):
                return [leaf for value in values for leaf in self._leaves(value)]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._leaves(operand)
        return [node]

    # -- text ------------------------------------------------------------------------------------

    def _reads_data(self, node: ast.expr) -> bool:
        return self._facts.kinds.truth_reads_data(node, self._function, self._statement)

    def _calls(self, node: ast.Call, *names: str) -> bool:
        return self._facts.module.qualified(node.func, self._function) in names

    def _helper(self, helper: str, operands: list[str]) -> str:
        name = self._name_of(helper)
        self.helpers.add(name)
        return f"{name}({', '.join(operands)})"

    def _operand(self, node: ast.expr) -> str:
        text = self._text(node)
        loose = isinstance(node, ast.BoolOp | ast.IfExp | ast.Lambda | ast.NamedExpr)
        return f"({text})" if loose or "\n" in text else text

    def _text(self, node: ast.expr) -> str:
        return self._facts.module.text_of(node)
