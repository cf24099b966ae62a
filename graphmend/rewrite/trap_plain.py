"""[Trap] in plain torch: where a program is compiled, `torch._assert_async` stands for the guard.

The guard stays as it is for eager execution. Nothing makes its exception when the assert has
failed, so this rests on an assumption.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from graphmend.detect.site import Site
from graphmend.facts import Facts
from graphmend.findings import Edit
from graphmend.ir.module import Module
from graphmend.rewrite import trap, trap_async
from graphmend.rewrite.checks import first_reason
from graphmend.rewrite.names import Names
from graphmend.rewrite.refusal import Refused

applies = trap.applies

ASSUMPTION = (
    "nothing catches the guard's exception: compiled, a RuntimeError with this message comes out"
)
_LINE_LENGTH = 88
_ASKS, _ASSERTS = "torch.compiler.is_compiling", "torch._assert_async"
_BINDING = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


@dataclass(frozen=True, slots=True)
class InGraphAssert:
    """An assert for compiled code in front of a guard, which becomes its `elif`.

    `flags` is the part of the guard's test that is no tensor data, `condition` what is asserted.
    """

    site: Site
    flags: str | None
    condition: str
    message: str

    @property
    def runtime_names(self) -> frozenset[str]:
        """What the mended text calls of graphmend's runtime."""
        return frozenset()

    @property
    def plain(self) -> bool:
        """Whether the mended text runs without graphmend."""
        return True

    def edit(self, module: Module) -> Edit:
        """The edit of the guard's first word."""
        statement = self.site.statement
        start, _ = module.offsets(statement)
        text, newline, step = module.source.text, module.source.newline, module.cst.default_indent
        indent = text[module.line_offsets[statement.lineno - 1] : start]
        word = "elif" if text.startswith("elif", start) else "if"
        lines = [f"{word} {_ASKS}():"]
        inner = indent + step
        if self.flags is not None:
            lines.append(f"{inner}if {self.flags}:")
            inner += step
        lines.append(f"{inner}{self._assert(inner, step, newline)}")
        lines.append(f"{indent}elif")
        return Edit(start, start + len(word), newline.join(lines), statement.lineno)

    def _assert(self, indent: str, step: str, newline: str) -> str:
        line = f"{_ASSERTS}({self.condition}, {self.message})"
        if len(indent) + len(line) <= _LINE_LENGTH:
            return line
        rows = "".join(f"{indent}{step}{part},{newline}" for part in (self.condition, self.message))
        return f"{_ASSERTS}({newline}{rows}{indent})"


def rewrite(site: Site, facts: Facts, names: Names, runtime: dict[str, str]) -> InGraphAssert:
    """The guard with an assert in front of it. Raises `Refused` with the reason not to."""
    reason = site.refusal or first_reason(CHECKS, site, facts)
    if reason is not None:
        raise Refused(reason)
    statement = site.statement
    assert isinstance(statement, ast.If) and isinstance(statement.body[0], ast.Raise)
    writer = _Writer(site, facts)
    flags, tested = writer.split(statement.test)
    return InGraphAssert(
        site=replace(site, assumption=ASSUMPTION),
        flags=flags,
        condition=writer.truth(tested, False),
        message=_message(statement.body[0], facts.module),
    )


def not_an_assert(site: Site, facts: Facts) -> str | None:
    """With `--plain` there is nothing to add to what TorchDynamo makes of an assert statement."""
    if isinstance(site.statement, ast.Assert):
        return "TorchDynamo itself keeps asserts in the graph where it can"
    return None


def torch_is_at_hand(site: Site, facts: Facts) -> str | None:
    """The mended text calls functions of torch by name."""
    for name in (_ASKS, _ASSERTS):
        if facts.module.qualified(ast.parse(name, mode="eval").body, site.function) != name:
            return "`torch` is not what the name stands for here"
    return None


def binds_nothing(site: Site, facts: Facts) -> str | None:
    """The test is written twice: once for each way to run."""
    assert isinstance(site.statement, ast.If)
    if any(isinstance(node, _BINDING) for node in ast.walk(site.statement.test)):
        return "it awaits, yields or binds a name inside an expression"
    return None


CHECKS = (not_an_assert, *trap_async.CHECKS, torch_is_at_hand, binds_nothing)


class _Writer:
    """Writes the truth of a test as a tensor."""

    def __init__(self, site: Site, facts: Facts) -> None:
        self._where = (site.function, site.statement)
        self._facts = facts

    def split(self, test: ast.expr) -> tuple[str | None, ast.expr]:
        """The leading operands of `and` that are no tensor data, as text, and the rest."""
        if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
            return None, test
        reads = [self._facts.kinds.truth_reads_data(v, *self._where) for v in test.values]
        first = reads.index(True)
        flags, rest = test.values[:first], test.values[first:]
        written = " and ".join(
            f"({self._text(v)})" if _is_loose(v) else self._text(v) for v in flags
        )
        return written or None, rest[0] if len(rest) == 1 else ast.BoolOp(test.op, rest)

    def truth(self, node: ast.expr, wanted: bool) -> str:
        """A tensor that is true where the truth of `node` is `wanted`."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.truth(operand, not wanted)
            case ast.BoolOp(op=op, values=[first, *others]):
                joiner = "and" if isinstance(op, ast.And) is wanted else "or"
                written = self.truth(first, wanted)
                for other in others:
                    self._require_early(other)
                    written = f"torch.logical_{joiner}({written}, {self.truth(other, wanted)})"
                return written
        kind = self._facts.kinds.of(node, *self._where)
        text = self._text(node)
        if not (kind.sure_tensor and kind.zero_dim):
            raise Refused(f"`{ast.unparse(node)}` is not known to be a tensor of one element")
        if not wanted:
            return f"torch.logical_not({text})"
        return text if kind.bool_dtype else f"({text}) != 0"

    def _require_early(self, node: ast.expr) -> None:
        if not self._facts.effects.can_evaluate_early(node, *self._where):
            raise Refused(f"`{ast.unparse(node)}` cannot be evaluated where Python might skip it")

    def _text(self, node: ast.expr) -> str:
        return self._facts.module.text_of(node)


def _is_loose(node: ast.expr) -> bool:
    return isinstance(node, ast.BoolOp | ast.IfExp | ast.Lambda)


def _message(raised: ast.Raise, module: Module) -> str:
    """The text of a literal: the exception's message, or else its name."""
    match raised.exc:
        case ast.Call(args=[ast.Constant(value=str()) as message], keywords=[]):
            return module.text_of(message)
        case ast.Call(func=raised_class, args=[], keywords=[]) | (ast.expr() as raised_class):
            if isinstance(raised_class, ast.Name | ast.Attribute):
                return repr(ast.unparse(raised_class)).replace("'", '"')
    raise Refused("its message is no literal, and nothing in the graph could make it")
