"""A branch as a selection: its sides become functions where they stand, a call chooses.

    if test:                      def then(x):
        x = f(x)                      x = f(x)
                        ->            return x
                                  x = select(test, then, lambda x: x, x)

The text of the sides stays in its place; only what follows an early return moves, by one level of
indentation. Edits are made from the text as it is when their turn comes: branches inside a side
are turned into selections first.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from graphmend.detect.site import Site
from graphmend.findings import Edit
from graphmend.ir.module import Function, Module
from graphmend.rewrite.draft import Draft
from graphmend.rewrite.names import Names
from graphmend.rewrite.predicate import Predicate
from graphmend.rewrite.refusal import Refused
from graphmend.rewrite.region import Region, inputs_of, region_of
from graphmend.rewrite.text import comments, indent_of, line_end, lines_inside_strings

_LINE_LENGTH = 88
_COLON = re.compile(r"[\s\\)]*:")
_ELSE = re.compile(r"^[ \t\f]*(else\s*:)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Selection:
    """A branch or conditional expression that becomes a selection.

    `start` is its offset in the original text. `caches` are attributes that one side fills for
    later calls.
    """

    site: Site
    start: int
    predicate: Predicate
    select: str
    caches: tuple[str, ...] = ()
    then: str = "then"
    otherwise: str = "otherwise"

    @property
    def runtime_names(self) -> frozenset[str]:
        """What the mended text calls of the runtime, as it is called there."""
        return frozenset({self.select, *self.predicate.helpers})

    @property
    def plain(self) -> bool:
        """Whether the mended text runs without graphmend."""
        return False

    def named(self, names: Names) -> Selection:
        """The same, with names for the functions of its sides that the module does not use."""
        if isinstance(self.site.node, ast.IfExp):
            return self
        return replace(self, then=names.fresh(self.then), otherwise=names.fresh(self.otherwise))

    def edits(self, draft: Draft, module: Module) -> list[Edit]:
        """The edits that make the selection in `module`, the draft as it is now.

        Raises `Refused` where the text does not allow it.
        """
        place = draft.place_of(self.start)
        kind = ast.If if isinstance(self.site.node, ast.If) else ast.IfExp
        for node in module.nodes:
            if isinstance(node, kind) and module.offsets(node)[0] == place:
                function = module.function_of(node)
                assert function is not None and isinstance(node, ast.If | ast.IfExp)
                if isinstance(node, ast.IfExp):
                    return [_choice(self, node, function, draft)]
                return _Branch(self, region_of(node, function), function, draft).edits()
        raise Refused("another fix has taken its place")


def _choice(selection: Selection, node: ast.IfExp, function: Function, draft: Draft) -> Edit:
    """The edit of a conditional expression: both values become functions of what they read."""
    module = function.module
    inputs = inputs_of(node, function)
    head = f"lambda {', '.join(inputs)}:" if inputs else "lambda:"
    sides = [f"{head} {module.text_of(side)}" for side in (node.body, node.orelse)]
    start, end = module.offsets(node)
    arguments = [selection.predicate.text, *_ordered(selection, *sides), *inputs]
    call = f"{selection.select}({', '.join(arguments)})"
    if comments(call) != comments(module.source.text[start:end]):
        raise Refused("a comment stands where the fix would have to drop it")
    return Edit(start, end, call, draft.line_of(start))


def _ordered(selection: Selection, then: str, otherwise: str) -> tuple[str, str]:
    """The two sides in the order in which the predicate chooses."""
    return (otherwise, then) if selection.predicate.inverted else (then, otherwise)


class _Branch:
    """The edits of one if statement."""

    def __init__(
        self, selection: Selection, region: Region, function: Function, draft: Draft
    ) -> None:
        self._selection = selection
        self._region = region
        self._module = module = function.module
        self._draft = draft
        self._text = module.source.text
        self._newline = module.source.newline
        self._step = module.cst.default_indent
        self._start = module.offsets(region.node)[0]
        self._is_elif = self._text.startswith("elif", self._start)
        outer = indent_of(self._text, self._start)
        self._indent = outer + self._step if self._is_elif else outer
        self._shifted: dict[int, str] = {}  # lines, and the indentation that they gain

    def edits(self) -> list[Edit]:
        """All edits, in no order."""
        node, region = self._region.node, self._region
        edits = [self._header()]
        ends = {self._end_of(node.body): self._return(node.body)}
        if self._is_elif:
            self._shift(node.lineno + 1, self._last_line(node), self._step)
        if node.orelse:
            edits += self._else()
        elif region.rest:
            head = f"{self._newline}{self._indent}{self._head(self._selection.otherwise)}"
            ends[self._end_of(node.body)] += head
        if region.rest:
            inner = self._inner(node.orelse) if node.orelse else self._indent + self._step
            first = (node.end_lineno or node.lineno) + 1
            self._shift(first, self._last_line(region.last), inner[len(self._indent) :])
        side_end = self._end_of([region.last])
        if node.orelse and not region.rest:
            ends[side_end] = ends.get(side_end, "") + self._return(node.orelse)
        ends[side_end] = ends.get(side_end, "") + self._newline + self._indent + self._call()
        edits += [Edit(at, at, text, self._line(at)) for at, text in ends.items()]
        return edits + list(self._shifts())

    # -- the parts -------------------------------------------------------------------------------

    def _header(self) -> Edit:
        """`if test:` becomes `def then(..):`."""
        node = self._region.node
        match = _COLON.match(self._text, self._module.offsets(node.test)[1])
        if match is None:
            raise Refused("a comment stands between its test and the colon")
        before = self._text[self._start : match.end()]
        if comments(before) != comments(self._selection.predicate.text):
            raise Refused("a comment in its test would be lost")
        head = self._head(self._selection.then)
        if self._is_elif:
            head = f"else:{self._newline}{self._indent}{head}"
        return self._replaced(self._start, match.end(), head, node.body[0])

    def _else(self) -> list[Edit]:
        """`else:` or `elif test:` becomes `def otherwise(..):`."""
        node = self._region.node
        first = node.orelse[0]
        start = self._module.offsets(first)[0]
        head = self._head(self._selection.otherwise)
        if self._text.startswith("elif", start):
            inner = f"{head}{self._newline}{self._indent}{self._step}if"
            self._shift(first.lineno + 1, self._last_line(first), self._step)
            return [Edit(start, start + len("elif"), inner, self._line(start))]
        body_end = self._module.offsets(node.body[-1])[1]
        found = [
            m for m in _ELSE.finditer(self._text, body_end, start) if self._is_code(m.start(1))
        ]
        if not found:
            raise Refused("its else is not on a line of its own")
        return [self._replaced(*found[-1].span(1), head, first)]

    def _replaced(self, start: int, end: int, head: str, first: ast.stmt) -> Edit:
        """The edit of a header; statements on its line get one of their own."""
        body = self._module.offsets(first)[0]
        if "\n" not in self._text[end:body]:
            end, head = body, f"{head}{self._newline}{self._indent}{self._step}"
        return Edit(start, end, head, self._line(start))

    def _is_code(self, offset: int) -> bool:
        line = self._text.count("\n", 0, offset) + 1
        return line not in lines_inside_strings(self._text)

    def _head(self, name: str) -> str:
        return f"def {name}({', '.join(self._region.inputs)}):"

    def _return(self, block: list[ast.stmt]) -> str:
        outputs = self._region.outputs
        if not outputs:
            return ""
        return f"{self._newline}{self._inner(block)}return {', '.join(outputs)}"

    def _inner(self, block: list[ast.stmt]) -> str:
        """The indentation of a block in the mended text."""
        start = self._module.offsets(block[0])[0]
        indent = indent_of(self._text, start)
        line_start = self._text.rfind("\n", 0, start) + 1
        if line_start + len(indent) != start or self._text.startswith("elif", start):
            return self._indent + self._step  # it shares the line of its header
        return indent + self._step * self._is_elif

    def _call(self) -> str:
        region, selection = self._region, self._selection
        prefix = "return "
        if region.outputs is not None:
            prefix = f"{', '.join(region.outputs)} = " if region.outputs else ""
        otherwise = selection.otherwise
        if not region.node.orelse and not region.rest:
            otherwise = self._kept()
        arguments = [
            selection.predicate.text,
            *_ordered(selection, selection.then, otherwise),
            *region.inputs,
        ]
        if selection.caches:
            named = "".join(f'"{name}", ' for name in selection.caches)
            arguments.append(f"caches=({named.rstrip() if len(selection.caches) == 1 else named})")
        line = f"{prefix}{selection.select}({', '.join(arguments)})"
        if len(self._indent) + len(line) <= _LINE_LENGTH and "\n" not in line:
            return line
        inner = self._indent + self._step
        rows = "".join(f"{inner}{argument},{self._newline}" for argument in arguments)
        return f"{prefix}{selection.select}({self._newline}{rows}{self._indent})"

    def _kept(self) -> str:
        """The else side of a branch without one: what the names held before."""
        outputs = self._region.outputs or ()
        head = f"lambda {', '.join(self._region.inputs)}:" if self._region.inputs else "lambda:"
        value = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
        return f"{head} {value if outputs else None}"

    # -- places ----------------------------------------------------------------------------------

    def _end_of(self, block: list[ast.stmt]) -> int:
        """The end of the last line of a block."""
        return line_end(self._text, self._module.offsets(block[-1])[1])

    def _last_line(self, statement: ast.stmt) -> int:
        return statement.end_lineno or statement.lineno

    def _shift(self, first: int, last: int, indent: str) -> None:
        """Indent lines by so much more."""
        for line in range(first, last + 1):
            self._shifted[line] = self._shifted.get(line, "") + indent

    def _shifts(self) -> Iterator[Edit]:
        if not self._shifted:
            return
        offsets, fixed = self._module.line_offsets, lines_inside_strings(self._text)
        for line, indent in self._shifted.items():
            start = offsets[line - 1]
            if line in fixed or not self._text[start : line_end(self._text, start)].strip():
                continue
            yield Edit(start, start, indent, self._line(start))

    def _line(self, offset: int) -> int:
        return self._draft.line_of(offset)
