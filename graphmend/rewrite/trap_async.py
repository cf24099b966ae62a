"""[Trap] inside the graph: a guard becomes an assert that nothing waits for.

The statement moves into a function as in [Trap]. Its decorator tells the runtime that the truth of
tensors alone decides whether the function raises, so that the graph can assert it, and that the
exception can be made when the assert has failed.
"""

from __future__ import annotations

import ast

import libcst as cst

from graphmend.analyses.enclosing import finally_around
from graphmend.analyses.kind import Kind, Tag
from graphmend.detect.site import Site
from graphmend.facts import Facts
from graphmend.rewrite import trap
from graphmend.rewrite.checks import first_reason
from graphmend.rewrite.names import Names
from graphmend.rewrite.outline import Outline, outline
from graphmend.rewrite.refusal import Refused

applies = trap.applies

_MOST_TENSORS = 3


def rewrite(site: Site, facts: Facts, names: Names, runtime: dict[str, str]) -> Outline:
    """The guard outlined into a check in the graph. Raises `Refused` with the reason not to."""
    reason = site.refusal or first_reason(CHECKS, site, facts)
    if reason is not None:
        raise Refused(reason)
    result = outline(site, facts, names, "check", runtime["async_check"])
    _Decision(result, facts).require_truth_of_tensors()
    return result


def only_raises(site: Site, facts: Facts) -> str | None:
    """The function of a check runs while tracing, too: to raise is all that it may do."""
    match site.statement:
        case ast.Assert() | ast.If(body=[ast.Raise()], orelse=[]):
            return None
    return "only a guard that raises, and does nothing else, becomes an assert in the graph"


def makes_exceptions_freely(site: Site, facts: Facts) -> str | None:
    """The exception is made while tracing, too, so making it must not show."""
    for node in ast.walk(site.statement):
        if isinstance(node, ast.Raise):
            for made in (node.exc, node.cause):
                if isinstance(made, ast.Call) and not _is_free(made, site, facts):
                    return f"making `{ast.unparse(made.func)}` may have an effect of its own"
    return None


def _is_free(made: ast.Call, site: Site, facts: Facts) -> bool:
    effects = facts.effects.of_expr(made, site.function, site.statement)
    return not (effects.writes or effects.random or effects.logs or effects.unknown)


def nothing_to_finish_around(site: Site, facts: Facts) -> str | None:
    """When the graph fails, no `finally` block of the traced code runs."""
    around = finally_around(site.statement, site.function)
    return None if around is None else f"it stands in the try/finally of line {around.lineno}"


def nothing_shows_before(site: Site, facts: Facts) -> str | None:
    """What happens outside of the graph happens after it, and not at all where it fails."""
    function = site.function
    for other in function.statements:
        if other is site.statement:
            continue
        effects = facts.effects.of_statement(other, function)
        if any(write.outside and write.tensor for write in effects.writes):
            return f"line {other.lineno} writes a tensor in place"
        shows = effects.logs or facts.effects.writes_python_state(other, function)
        if shows and site.statement in function.cfg.reachable_after(other):
            return f"what line {other.lineno} does before it would be lost when the graph fails"
    return None


CHECKS = (
    *trap.CHECKS,
    only_raises,
    makes_exceptions_freely,
    nothing_to_finish_around,
    nothing_shows_before,
)


class _Decision:
    """What decides whether an outlined guard raises, and what its exception shows."""

    def __init__(self, result: Outline, facts: Facts) -> None:
        self._body = result.body
        self._site = result.site
        self._facts = facts
        self._arguments = dict(zip(result.parameters, result.arguments, strict=True))

    def require_truth_of_tensors(self) -> None:
        """Refuse a guard that rests on, or shows, more than the graph can assert and keep."""
        test = self._test()
        leaves = _leaves(test)
        for leaf in leaves:
            if not isinstance(leaf, cst.Name) or leaf.value not in self._arguments:
                raise Refused(f"`{self._code(leaf)}` is worked out only when the guard runs")
            kind = self._kind(leaf.value)
            if not (kind.sure_tensor and kind.zero_dim):
                code = self._arguments[leaf.value]
                raise Refused(f"`{code}` is not known to be a tensor of one element")
        tensors = {leaf.value for leaf in leaves if isinstance(leaf, cst.Name)}
        if len(tensors) > _MOST_TENSORS:
            raise Refused("its test rests on too many tensors")
        for name in _names(self._body, without=test):
            if name in self._arguments and self._kind(name).tag is not Tag.STATIC:
                shown = self._arguments[name]
                raise Refused(f"its exception shows `{shown}`, which an assert does not keep")

    def _test(self) -> cst.BaseExpression:
        match self._body:
            case cst.If(test=test):
                return test
            case cst.SimpleStatementLine(body=[cst.Assert(test=test)]):
                return test
        raise AssertionError("checked by only_raises")

    def _kind(self, parameter: str) -> Kind:
        expression = ast.parse(f"({self._arguments[parameter]}\n)", mode="eval").body
        return self._facts.kinds.of(expression, self._site.function, self._site.statement)

    def _code(self, node: cst.CSTNode) -> str:
        return self._facts.module.cst.code_for_node(node)


def _leaves(test: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The operands whose truth makes that of a test."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=operand):
            return _leaves(operand)
        case cst.BooleanOperation(left=left, right=right):
            return [*_leaves(left), *_leaves(right)]
    return [test]


def _names(node: cst.CSTNode, without: cst.CSTNode) -> set[str]:
    """The names in a statement, those in one part of it left out."""
    if node is without:
        return set()
    if isinstance(node, cst.Name):
        return {node.value}
    return set().union(*(_names(child, without) for child in node.children))
