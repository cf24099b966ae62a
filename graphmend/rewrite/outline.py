"""Outlining: a statement becomes a module-level function, its site a call of it.

Every sub-expression is evaluated in one of two places (see `lift`): at the site as an argument,
or in the outlined function from the names it reads. Nothing is evaluated that the original does
not evaluate, unless it is pure and cannot raise, and nothing in an order that could show.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from graphmend.detect.calls import asks_level
from graphmend.detect.site import Site
from graphmend.facts import Facts
from graphmend.rewrite.layout import ast_twin
from graphmend.rewrite.lift import Argument, Lift, bound_names
from graphmend.rewrite.names import Names
from graphmend.rewrite.refusal import Refused
from graphmend.rewrite.stacklevel import shift_stacklevels
from graphmend.rewrite.text import argument_list

_LINE_LENGTH = 88
_FRAME_READERS = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})


@dataclass(frozen=True, slots=True)
class Outline:
    """The function that holds a statement and the call that stands at its site.

    `condition` is what stays at the site as an `if` around the call.
    """

    site: Site
    name: str
    decorator: str
    parameters: tuple[str, ...]
    body: cst.BaseStatement
    arguments: tuple[str, ...]
    condition: str | None

    @property
    def runtime_names(self) -> frozenset[str]:
        """What the mended text calls of the runtime, as it is called there."""
        return frozenset({self.decorator})

    @property
    def plain(self) -> bool:
        """Whether the mended text runs without graphmend: the decorator is one of its runtime."""
        return False

    def function(self, module: cst.Module) -> str:
        """The text of the outlined function, without a line end after it."""
        node = cst.FunctionDef(
            name=cst.Name(self.name),
            params=cst.Parameters(),
            body=cst.IndentedBlock([self.body]),
            decorators=[cst.Decorator(cst.Name(self.decorator))],
        )
        head = f"def {self.name}"
        code = module.code_for_node(node).rstrip()
        return code.replace(f"{head}()", head + self._parameters(module, len(head)), 1)

    def _parameters(self, module: cst.Module, column: int) -> str:
        line = f"({', '.join(self.parameters)})"
        if column + len(line) < _LINE_LENGTH:
            return line
        newline, step = module.default_newline, module.default_indent
        return f"({newline}{''.join(f'{step}{p},{newline}' for p in self.parameters)})"

    def call(self, indent: str, step: str, newline: str) -> str:
        """The text of the site, for a statement that starts at `indent`."""
        if self.condition is None:
            return self._call(indent, step, newline)
        inner = indent + step
        return f"if {self.condition}:{newline}{inner}{self._call(inner, step, newline)}"

    def _call(self, indent: str, step: str, newline: str) -> str:
        given = argument_list(indent + self.name, self.arguments, indent, step, newline)
        return self.name + given


def outline(site: Site, facts: Facts, names: Names, verb: str, decorator: str) -> Outline:
    """Outline the statement of a site. Raises `Refused` where that would change the program."""
    statement, function = site.statement, site.function
    _require_movable(site, facts)
    node = function.module.cst_statement(statement)
    node, condition = _split_condition(node, site, facts)
    node = shift_stacklevels(node, statement, function, facts)
    lift = Lift(statement, function, facts)
    lifted = node.visit(lift)
    assert isinstance(lifted, cst.CSTNode)
    arguments: Sequence[Argument] = lift.arguments
    return Outline(
        site=site,
        name=names.fresh(f"_{function.name.strip('_') or 'outlined'}_{verb}"),
        decorator=decorator,
        parameters=tuple(a.parameter for a in arguments),
        body=_as_statement(lifted),
        arguments=tuple(a.code for a in arguments),
        condition=condition,
    )


def _as_statement(node: cst.CSTNode) -> cst.BaseStatement:
    if isinstance(node, cst.BaseSmallStatement):
        return cst.SimpleStatementLine([node.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
    assert isinstance(node, cst.If)
    return node.with_changes(leading_lines=())


def _split_condition(node: cst.CSTNode, site: Site, facts: Facts) -> tuple[cst.CSTNode, str | None]:
    """Leave the leading static conjuncts of a test at the site: `if a and t: ..` keeps `if a:`."""
    statement, function = site.statement, site.function
    if isinstance(statement, ast.Assert):
        return node, "__debug__"
    if not isinstance(node, cst.If) or node.orelse is not None:
        return node, None
    conjuncts = _conjuncts(node.test)
    static: list[cst.BaseExpression] = []
    for conjunct in conjuncts[:-1]:
        expression = ast_twin(conjunct, function.module.cst)
        assert expression is not None
        if facts.kinds.truth_reads_data(expression, function, statement):
            break
        if asks_level(expression, function, statement, facts):
            break
        static.append(conjunct)
    if not static:
        return node, None
    rest = conjuncts[len(static) :]
    kept = " and ".join(function.module.cst.code_for_node(c) for c in static)
    if "\n" in kept or "\r" in kept:
        kept = f"({kept})"
    return node.with_changes(test=_conjunction(rest), whitespace_before_test=_SPACE), kept


_SPACE = cst.SimpleWhitespace(" ")


def _conjuncts(test: cst.BaseExpression) -> list[cst.BaseExpression]:
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        return [*_conjuncts(test.left), *_conjuncts(test.right)]
    return [test]


def _conjunction(operands: Sequence[cst.BaseExpression]) -> cst.BaseExpression:
    result = operands[0]
    for operand in operands[1:]:
        result = cst.BooleanOperation(left=result, operator=cst.And(), right=operand)
    return result


def _require_movable(site: Site, facts: Facts) -> None:
    """Refuse statements that mean something else in another function."""
    statement, function = site.statement, site.function
    if isinstance(function.node, ast.AsyncFunctionDef):
        raise Refused("it stands in an asynchronous function")
    for node in ast.walk(statement):
        match node:
            case ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr():
                raise Refused("it awaits, yields or binds a name inside an expression")
            case ast.Raise(exc=None):
                raise Refused("it re-raises the exception being handled")
            case ast.Name(id=name) if name in _FRAME_READERS and not function.is_local(name):
                raise Refused(f"`{name}` would see another frame")
            case ast.Name(id="__class__"):
                raise Refused("`__class__` means the class only inside its methods")
            case ast.Name(id=name) | ast.Attribute(attr=name) if (
                function.owner is not None and name.startswith("__") and not name.endswith("__")
            ):
                raise Refused(f"`{name}` is a private name of the class")
    _require_own_names(site)


def _require_own_names(site: Site) -> None:
    """The names a statement binds must be of no use outside it."""
    statement, flow = site.statement, site.function.flow
    inside = {id(node) for node in ast.walk(statement)}
    bound = bound_names(statement)
    for name in sorted(bound & flow.live_after(statement)):
        raise Refused(f"`{name}` is bound in it and read afterwards")
    for read in _names_read(statement):
        reader = site.function.module.statement_of(read)
        reaching = flow.definitions_reaching(reader, read.id) if read.id in bound else ()
        if any(id(definition.stmt) not in inside for definition in reaching):
            raise Refused(f"`{read.id}` is bound before it and read in it")


def _names_read(statement: ast.stmt) -> Iterator[ast.Name]:
    """The names that a statement, or one in it, reads; `name += ..` reads its target."""
    for node in ast.walk(statement):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node
