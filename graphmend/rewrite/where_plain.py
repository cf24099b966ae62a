"""[Where] in plain PyTorch: `torch.where` in the source, where its operands are proven alike.

    if h.dtype == torch.float16 and torch.isinf(h).any():     if h.dtype == torch.float16:
        limit = ..                                        ->      limit = ..
        h = torch.clamp(h, min=-limit, max=limit)                 h = torch.where(
                                                                      torch.isinf(h).any(),
                                                                      torch.clamp(h, ..), h)

Then the mended text runs without graphmend, and eagerly both operands are computed. So the proof
must hold for every input: `h` is a dense tensor made just before that nothing else holds, and the
other operand is made of it by an operator that keeps shape, strides and dtype, and whose gradient
is zero where it is not chosen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from graphmend.analyses.kind import Tag
from graphmend.detect.site import Site
from graphmend.facts import Facts
from graphmend.findings import Edit
from graphmend.ir.module import Function, Module
from graphmend.rewrite.draft import Draft
from graphmend.rewrite.names import Names
from graphmend.rewrite.refusal import Refused
from graphmend.rewrite.sheet import Sheet
from graphmend.rewrite.text import argument_list, comments, indent_of

# Elementwise operators of one tensor: strides of a dense operand are kept; the derivative is at
# most one in size, or masked, so that a zero gradient stays zero. Those of the first set take and
# keep every dtype; the others fail for some, or change integers given Python floats.
_KEEP_DTYPE = frozenset({"torch.nan_to_num"})
_KEEP_FLOATS = frozenset(
    {"torch.clamp", "torch.clip", "torch.relu", "torch.nn.functional.relu", "torch.neg"}
)
_METHODS = {"relu": "torch.relu", "neg": "torch.neg", "nan_to_num": "torch.nan_to_num"} | {
    name: f"torch.{name}" for name in ("clamp", "clip")
}
_PARAMETERS = {
    "torch.nan_to_num": ("nan", "posinf", "neginf"),
    "torch.clamp": ("min", "max"),
    "torch.clip": ("min", "max"),
    "torch.relu": (),
    "torch.nn.functional.relu": (),
    "torch.neg": (),
}
_NEED_A_LIMIT = frozenset({"torch.clamp", "torch.clip"})
_LARGEST = 65504  # of half precision: what is larger is an error there
_FLOATS = frozenset(f"torch.{t}" for t in ("float16", "half", "bfloat16", "float32", "float64"))
# Layers whose result is a new, dense tensor.
_MAKES_DENSE = frozenset({"torch.nn.LayerNorm", "torch.nn.Linear"})
_JOINERS = {ast.And: " & ", ast.Or: " | "}


@dataclass(frozen=True, slots=True)
class PlainSelection:
    """A branch whose last assignment becomes `name = torch.where(test, value, name)`.

    `start` is as in `Selection`; `static` is the part of its test that stays, None for none.
    """

    site: Site
    start: int
    static: str | None
    test: str
    name: str
    used_by: int = 0

    @property
    def runtime_names(self) -> frozenset[str]:
        """Nothing of the runtime is called."""
        return frozenset()

    @property
    def plain(self) -> bool:
        """The mended text runs without graphmend."""
        return True

    def named(self, names: Names) -> PlainSelection:
        """The same: it introduces no names."""
        return self

    def edits(self, draft: Draft, module: Module) -> list[Edit]:
        """The edits in `module`, the draft as it is now; `Refused` where it has no place."""
        place = draft.place_of(self.start)
        node = next(
            (n for n in module.nodes if isinstance(n, ast.If) and module.offsets(n)[0] == place),
            None,
        )
        if node is None:
            raise Refused("another fix has taken its place")
        text, sheet = module.source.text, Sheet(module, draft)
        last = node.body[-1]
        assert isinstance(last, ast.Assign)
        start, end = module.offsets(last.value)
        indent = indent_of(
            text, module.offsets(last)[0] if self.static else module.offsets(node)[0]
        )
        head = f"{indent}{self.name} = torch.where"
        operands = [self.test, text[start:end], self.name]
        step, newline = module.cst.default_indent, module.source.newline
        sheet.replace(
            start, end, "torch.where" + argument_list(head, operands, indent, step, newline)
        )
        if self.static is not None:
            test_start, test_end = module.offsets(node.test)
            if comments(text[test_start:test_end]):
                raise Refused("a comment in its test would be lost")
            sheet.replace(test_start, test_end, self.static)
        else:
            head_start, head_end = module.offsets(node)[0], module.offsets(last)[0]
            if comments(text[head_start:head_end]):
                raise Refused("a comment at its head would be lost")
            sheet.replace(head_start, head_end, "")
        return sheet.edits()


def plain_selection(site: Site, start: int, facts: Facts) -> PlainSelection | None:
    """The branch of a site in plain PyTorch; None where the proof does not succeed."""
    node, function = site.node, site.function
    if (
        not isinstance(node, ast.If)
        or node.orelse
        or facts.module.source.text[start - 2 : start] == "el"
    ):
        return None
    prover = _Prover(node, function, facts)
    static, test = prover.split()
    match node.body[-1]:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            proven = (
                test is not None
                and (static is not None or len(node.body) == 1)
                and prover.is_alone(name)
                and prover.is_dense(name)
                and prover.prepares_only(node.body[:-1], name)
                and prover.keeps(value, name)
            )
            if proven and test is not None:
                return PlainSelection(site, start, static, test, name)
    return None


class _Prover:
    """Looks for the proof at one branch."""

    def __init__(self, node: ast.If, function: Function, facts: Facts) -> None:
        self._node = node
        self._function = function
        self._facts = facts
        self._floats: set[str] = set()  # names that hold floating-point tensors
        self._limits: set[str] = set()  # names that hold numbers which every such dtype can hold

    def split(self) -> tuple[str | None, str | None]:
        """The static part of the test, and the rest as one 0-d bool tensor; as text."""
        test = self._node.test
        parts = (
            test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
        )
        static = [part for part in parts if not self._reads_data(part)]
        rest = parts[len(static) :]
        if parts[: len(static)] != static or not rest:
            return None, None
        self._floats = {name for part in static for name in self._shown_float(part)}
        texts = [self._truth(part, len(rest) > 1) for part in rest]
        kept = " and ".join(self._text(part) for part in static) or None
        if any(isinstance(part, ast.BoolOp | ast.IfExp) for part in static):
            return None, None
        if any(isinstance(node, ast.NamedExpr) for node in ast.walk(test)) or not all(
            self._facts.effects.of_expr(part, self._function, self._node).pure for part in static
        ):
            return None, None  # something else may hold the name
        if any(text is None for text in texts):
            return None, None
        return kept, " & ".join(text for text in texts if text is not None)

    def _shown_float(self, part: ast.expr) -> Iterator[str]:
        match part:
            case ast.Compare(
                left=ast.Attribute(value=ast.Name(id=name), attr="dtype"),
                ops=[ast.Eq()],
                comparators=[dtype],
            ) if self._qualified(dtype) in _FLOATS:
                yield name

    def _truth(self, part: ast.expr, inner: bool = True) -> str | None:
        """A test as a 0-d bool tensor; None where it may be something else, or fail early.

        What is `inner` to an operator is put into parentheses where it needs them.
        """
        match part:
            case ast.BoolOp(op=op, values=values):
                texts = [self._truth(value) for value in values]
                if any(text is None for text in texts):
                    return None
                joined = _JOINERS[type(op)].join(t for t in texts if t is not None)
                return f"({joined})" if inner else joined
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                text = self._truth(operand)
                return None if text is None else f"~{text}"
        kind = self._facts.kinds.of(part, self._function, self._node)
        early = self._facts.effects.can_evaluate_early(part, self._function, self._node)
        if not (kind.sure_tensor and kind.zero_dim and kind.bool_dtype and early):
            return None
        if not self._is_bool(part):
            return None
        text = self._text(part)
        return text if isinstance(part, ast.Call | ast.Name) or not inner else f"({text})"

    def _is_bool(self, part: ast.expr) -> bool:
        """Whether a test is of bools; `any` of bytes is a byte, which `torch.where` refuses."""
        match part:
            case ast.Call(func=ast.Attribute(value=base, attr="any" | "all"), args=args):
                operand = args[0] if args and self._qualified(base) == "torch" else base
                return self._facts.kinds.of(operand, self._function, self._node).bool_dtype
        return True

    def is_alone(self, name: str) -> bool:
        """Whether the branch leaves nothing but the name."""
        live = self._function.flow.live_after(self._node)
        bound = {
            n.id
            for n in ast.walk(self._node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        return bound & live == {name}

    def is_dense(self, name: str) -> bool:
        """Whether the name holds a new dense tensor that nothing has used before the branch."""
        flow = self._function.flow
        definitions = flow.definitions_reaching(self._node, name)
        if all(self._makes_floats(d.value) for d in definitions):
            self._floats.add(name)
        for definition in definitions:
            if not isinstance(definition.stmt, ast.Assign) or definition.value is None:
                return False
            if len(definition.stmt.targets) > 1:
                return False
            if not self._makes_dense(definition.value, definition.stmt):
                return False
            start = _place(definition.stmt)
            between = [
                use for use in flow.uses(definition) if start < _place(use) < _place(self._node)
            ]
            cfg = self._function.cfg
            if between or cfg.enclosing_loops(self._node) != cfg.enclosing_loops(definition.stmt):
                return False
            if not self._records_alike(definition.stmt):
                return False
        return True

    def _records_alike(self, made: ast.stmt) -> bool:
        """Whether gradients are recorded at the branch just as they were where its name was made.

        Under `torch.no_grad()` a selection would cut the name off what it is made of.
        """
        cfg, effects = self._function.cfg, self._facts.effects
        if cfg.enclosing_withs(self._node) != cfg.enclosing_withs(made):
            return False
        between = [
            part
            for part in self._facts.module.nodes
            if isinstance(part, ast.stmt) and _place(made) < _place(part) < _place(self._node)
        ]
        return not any(
            isinstance(part, ast.Expr)
            and isinstance(part.value, ast.Call)
            or effects.of_statement(part, self._function).unknown
            for part in between
        )

    def _makes_dense(self, value: ast.expr, stmt: ast.stmt) -> bool:
        kinds = self._facts.kinds
        match value:
            case ast.BinOp(
                op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), left=left, right=right
            ):
                sides = [kinds.of(side, self._function, stmt) for side in (left, right)]
                return any(s.sure_tensor for s in sides) and all(
                    s.sure_tensor or s.tag is Tag.STATIC and not s.none for s in sides
                )
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self")) as called):
                return kinds.of(called, self._function, stmt).name in _MAKES_DENSE
        return False

    def _makes_floats(self, value: ast.expr | None) -> bool:
        return isinstance(value, ast.Call)  # of a layer; a quotient may be complex

    def keeps(self, value: ast.expr, name: str) -> bool:
        """Whether an expression is made of the name by an operator that keeps it as it is."""
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=base), attr=method), args=args) if (
                base == name and method in _METHODS
            ):
                operator, operands = _METHODS[method], args
            case ast.Call(func=func, args=[ast.Name(id=first), *args]) if first == name:
                operator, operands = self._qualified(func) or "", args
            case _:
                return False
        given = [*operands, *(keyword.value for keyword in value.keywords)]
        known = [*_PARAMETERS[operator][: len(operands)]] if operator in _PARAMETERS else []
        names = [*known, *(keyword.arg or "" for keyword in value.keywords)]
        if len(names) != len(given) or len(set(names)) != len(names):
            return False
        if not set(names) <= set(_PARAMETERS.get(operator, ())):
            return False
        if not all(self._is_number(operand, name) for operand in given):
            return False
        if operator in _NEED_A_LIMIT and not given:
            return False
        return operator in _KEEP_DTYPE or operator in _KEEP_FLOATS and name in self._floats

    def _is_number(self, operand: ast.expr, name: str) -> bool:
        """Whether an operand is a number, cannot fail, and is in the range of every dtype."""
        match operand:
            case ast.Constant(value=int() | float() as number):
                return not isinstance(number, bool) and abs(number) <= _LARGEST
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return self._is_number(inner, name)
            case ast.Name(id=bound):
                return bound in self._limits
            case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant() as right):
                return self._is_largest(left, name) and self._is_number(right, name)
        return self._is_largest(operand, name)

    def _is_largest(self, operand: ast.expr, name: str) -> bool:
        """Whether an operand is `torch.finfo(name.dtype).max` of a name that holds floats."""
        match operand:
            case ast.Attribute(
                value=ast.Call(
                    func=func, args=[ast.Attribute(value=ast.Name(id=of), attr="dtype")]
                ),
                attr="max",
            ):
                return of == name and of in self._floats and self._qualified(func) == "torch.finfo"
        return False

    def prepares_only(self, statements: list[ast.stmt], name: str) -> bool:
        """Whether the statements before the last only bind such numbers to other names."""
        for statement in statements:
            match statement:
                case ast.Assign(targets=[ast.Name(id=target)], value=value) if target != name:
                    if not self._is_number(value, name):
                        return False
                    self._limits.add(target)
                case _:
                    return False
        return True

    def _reads_data(self, part: ast.expr) -> bool:
        return self._facts.kinds.truth_reads_data(part, self._function, self._node)

    def _qualified(self, part: ast.expr) -> str | None:
        return self._facts.module.qualified(part, self._function)

    def _text(self, part: ast.expr) -> str:
        return self._facts.module.text_of(part)


def _place(node: ast.stmt | ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
