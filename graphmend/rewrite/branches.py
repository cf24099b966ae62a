"""The edits that turn a branch, a conditional expression or a chosen number into a selection."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from graphmend.ir.module import Function
from graphmend.rewrite.refusal import Refused
from graphmend.rewrite.region import Continuation, continuation, inputs_of, region_of
from graphmend.rewrite.sheet import Sheet
from graphmend.rewrite.text import (
    argument_list,
    comments,
    indent_of,
    line_end,
    lines_inside_strings,
)

if TYPE_CHECKING:
    from graphmend.rewrite.selection import Selection

_COLON = re.compile(r"[\s\\)]*:")
# Between parts of an expression: white space, parentheses, continued lines and comments.
_BETWEEN = r"(?:[\s\\()]|#[^\r\n]*)*?"
_IF = re.compile(_BETWEEN + r"([\s\\]*if\b)")
_ELSE_WORD = re.compile(_BETWEEN + r"(else\b[\s\\]*)")
_ELSE = re.compile(r"^[ \t\f]*(else\s*:)", re.MULTILINE)


def edit_choice(selection: Selection, node: ast.IfExp, function: Function, sheet: Sheet) -> None:
    """A conditional expression: both values become functions of what they read, in place."""
    module, text = function.module, function.module.source.text
    inputs = inputs_of(node, function)
    start, end = module.offsets(node)
    between = module.offsets(node.body)[1], module.offsets(node.orelse)[0]
    keywords = _IF.match(text, between[0]), _ELSE_WORD.match(text, module.offsets(node.test)[1])
    assert keywords[0] is not None and keywords[1] is not None
    test_start, test_end = keywords[0].start(1), keywords[1].end(1)
    if comments(text[test_start:test_end]) != comments(selection.predicate.text):
        raise Refused("a comment stands where the fix would have to drop it")
    if comments(text[between[0] : between[1]]) != comments(selection.predicate.text):
        raise Refused("a comment stands between its parts")
    head = f"lambda {', '.join(inputs)}:" if inputs else "lambda:"
    sheet.replace(start, start, f"{selection.select}({selection.predicate.text}, {head} ")
    sheet.replace(test_start, test_end, f", {head} ")
    sheet.replace(end, end, "".join(f", {name}" for name in inputs) + ")")


def edit_number(selection: Selection, node: ast.IfExp, function: Function, sheet: Sheet) -> None:
    """A name bound to one of two numbers: what is done with it runs on each side."""
    module, text = function.module, function.module.source.text
    statement = module.statement_of(node)
    assert isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    start, end = module.offsets(statement)
    behind = text[end : line_end(text, end)].strip()
    if text[:start].rpartition("\n")[2].strip() or (behind and not behind.startswith("#")):
        raise Refused("it shares its line with other statements")
    values = [module.text_of(side) for side in (node.body, node.orelse)]
    if comments(" ".join([selection.predicate.text, *values])) != comments(text[start:end]):
        raise Refused("a comment stands where the fix would have to drop it")
    given = statement.targets[0].id
    after = continuation(statement, (given,), selection.used_by, function, settled=True)
    rest, inputs = selection.words.rest, inputs_of(node, function)
    writer = _Writer(selection, function, sheet, indent_of(text, start))
    sheet.gap_before(statement.lineno, header=True)
    sheet.replace(start, end, writer.head(rest, after.parameters))
    writer.move_rest(after)
    passed = _unique([*inputs, *after.inputs], rest)
    sides = [_lambda(passed, f"{rest}({', '.join([*after.inputs, value])})") for value in values]
    writer.call(statement, after.last, after.outputs, sides, passed)


def edit_branch(selection: Selection, node: ast.If, function: Function, sheet: Sheet) -> None:
    """An if statement, with what follows it where that belongs to one of its sides or to both."""
    module, text = function.module, function.module.source.text
    start = module.offsets(node)[0]
    is_elif = text.startswith("elif", start)
    step = module.cst.default_indent
    indent = indent_of(text, start) + step * is_elif
    region, words = region_of(node, function, settled=True), selection.words
    writer = _Writer(selection, function, sheet, indent, is_elif)
    writer.branch_header(node, writer.head(words.then, region.inputs))
    writer.end_side(node.body, region.outputs)
    if is_elif:
        sheet.indent(node.lineno + 1, _last_line(node), step)
    otherwise = words.otherwise
    if node.orelse:
        writer.else_header(node, writer.head(otherwise, region.inputs))
        if not region.rest:
            writer.end_side(node.orelse, region.outputs)
    elif region.rest:
        first = sheet.first_line_from(_last_line(node) + 1)
        sheet.gap_before(first)
        sheet.before(first, indent + writer.head(otherwise, region.inputs))
    else:
        otherwise = _lambda(region.inputs, _tuple(region.outputs or ()))
    if region.rest:
        inner = writer.inner(node.orelse) if node.orelse else indent + step
        writer.move_in(_last_line(node) + 1, region.rest, inner)
    if not selection.used_by:
        writer.call(node, region.last, region.outputs, [words.then, otherwise], region.inputs)
        return
    assert region.outputs is not None
    after = continuation(node, region.outputs, selection.used_by, function, settled=True)
    first = sheet.first_line_from(_last_line(node) + 1)
    sheet.gap_before(first)
    sheet.before(first, indent + writer.head(words.rest, after.parameters))
    writer.move_rest(after)
    passed = _unique(
        [*region.inputs, *after.inputs],
        *(words.then, words.rest) if not node.orelse else (words.then, otherwise, words.rest),
    )
    sides = [
        _lambda(passed, _applied(words.rest, after, words.then, region.inputs)),
        _lambda(passed, _applied(words.rest, after, otherwise, region.inputs))
        if node.orelse
        else _lambda(passed, f"{words.rest}({', '.join(after.parameters)})"),
    ]
    writer.call(node, after.last, after.outputs, sides, passed)


def _applied(rest: str, after: Continuation, side: str, inputs: Sequence[str]) -> str:
    """A call of what follows with the values of a side."""
    star = "*" if len(after.given) > 1 else ""
    given = f"{star}{side}({', '.join(inputs)})"
    return f"{rest}({', '.join([*after.inputs, given])})"


class _Writer:
    """Writes the lines of one selection, at one indentation."""

    def __init__(
        self,
        selection: Selection,
        function: Function,
        sheet: Sheet,
        indent: str,
        is_elif: bool = False,
    ) -> None:
        self._selection = selection
        self._module = function.module
        self._text = function.module.source.text
        self._newline = function.module.source.newline
        self._step = function.module.cst.default_indent
        self._sheet = sheet
        self._indent = indent
        self._is_elif = is_elif

    def head(self, name: str, parameters: Iterable[str]) -> str:
        """The header of a function."""
        return f"def {name}({', '.join(parameters)}):"

    def branch_header(self, node: ast.If, head: str) -> None:
        """`if test:` becomes `head`."""
        start = self._module.offsets(node)[0]
        match = _COLON.match(self._text, self._module.offsets(node.test)[1])
        if match is None:
            raise Refused("a comment stands between its test and the colon")
        before = self._text[start : match.end()]
        if comments(before) != comments(self._selection.predicate.text):
            raise Refused("a comment in its test would be lost")
        if self._is_elif:
            head = f"else:{self._newline}{self._indent}{head}"
        else:
            self._sheet.gap_before(node.lineno, header=True)
        self._replace(start, match.end(), head, node.body[0])

    def else_header(self, node: ast.If, head: str) -> None:
        """`else:` or `elif test:` becomes `head`."""
        first = node.orelse[0]
        start = self._module.offsets(first)[0]
        if self._text.startswith("elif", start):
            self._sheet.gap_before(first.lineno)
            inner = f"{head}{self._newline}{self._indent}{self._step}"
            self._sheet.indent(first.lineno + 1, _last_line(first), self._step)
            self._sheet.replace(start, start + len("el"), inner)
            return
        body_end = self._module.offsets(node.body[-1])[1]
        fixed = lines_inside_strings(self._text)
        for match in _ELSE.finditer(self._text, body_end, start):
            line = self._text.count("\n", 0, match.start(1)) + 1
            if line not in fixed:
                self._sheet.gap_before(line)
                self._replace(*match.span(1), head, first)
                return
        raise Refused("its else is not on a line of its own")

    def _replace(self, start: int, end: int, head: str, first: ast.stmt) -> None:
        """Replace a header; statements on its line get one of their own."""
        body = self._module.offsets(first)[0]
        if "\n" not in self._text[end:body]:
            end, head = body, f"{head}{self._newline}{self._indent}{self._step}"
        self._sheet.replace(start, end, head)

    def end_side(self, block: list[ast.stmt], outputs: Sequence[str] | None) -> None:
        """A side returns what it leaves, if it does not return by itself."""
        if outputs:
            text = f"{self.inner(block)}return {', '.join(outputs)}"
            self._sheet.after(self._end_of(block), text)

    def _end_of(self, block: list[ast.stmt]) -> int:
        """The last line of a block, with the comments that end it."""
        last = line = _last_line(block[-1])
        start = self._module.offsets(block[0])[0]
        depth = len(indent_of(self._text, start))
        if block[0].lineno == block[-1].lineno and self._text[:start].rpartition("\n")[2].strip():
            return last  # on the line of its header
        while line < self._sheet.lines:
            line += 1
            text = self._sheet.line(line)
            if text.strip() and not (
                text.lstrip().startswith("#") and len(text) - len(text.lstrip()) >= depth
            ):
                break
            last = line if text.strip() else last
        return last

    def inner(self, block: list[ast.stmt]) -> str:
        """The indentation of a block in the mended text."""
        start = self._module.offsets(block[0])[0]
        indent = indent_of(self._text, start)
        line_start = self._text.rfind("\n", 0, start) + 1
        if line_start + len(indent) != start or self._text.startswith("elif", start):
            return self._indent + self._step  # it shares the line of its header
        return indent + self._step * self._is_elif

    def move_in(self, line: int, rest: Sequence[ast.stmt], inner: str) -> None:
        """What follows a branch, from `line` on, becomes part of a block indented by `inner`.

        Behind the last side of a branch around it, it was indented less than the branch.
        """
        for statement in rest:
            own, last = (
                indent_of(self._text, self._module.offsets(statement)[0]),
                _last_line(statement),
            )
            if not inner.startswith(own):
                raise Refused("what follows it is indented in another way")
            self._sheet.indent(line, last, inner[len(own) :])
            line = max(line, last + 1)

    def move_rest(self, after: Continuation) -> None:
        """The statements that each side runs become the body of a function."""
        first = after.statements[0].lineno
        comment_lines = first
        while self._sheet.line(comment_lines - 1).strip().startswith("#"):
            comment_lines -= 1
        self._sheet.indent(comment_lines, _last_line(after.last), self._step)
        if after.outputs:
            text = f"{self._indent}{self._step}return {', '.join(after.outputs)}"
            self._sheet.after(_last_line(after.last), text)

    def call(
        self,
        branch: ast.stmt,
        last: ast.stmt,
        outputs: Sequence[str] | None,
        sides: Sequence[str],
        values: Sequence[str],
    ) -> None:
        """The call that selects, behind the statement `last`; it stands for that of `branch`."""
        selection = self._selection
        prefix = "return "
        if outputs is not None:
            prefix = f"{', '.join(outputs)} = " if outputs else ""
        then, otherwise = sides
        arguments = [selection.predicate.text, *_ordered(selection, then, otherwise), *values]
        if selection.caches:
            names = [f'"{name}"' for name in selection.caches]
            arguments.append(f"caches=({', '.join(names)}{',' if len(names) == 1 else ''})")
        head = f"{self._indent}{prefix}{selection.select}"
        given = argument_list(head, arguments, self._indent, self._step, self._newline)
        end = _last_line(last)
        if isinstance(last, ast.If) and last is branch:
            end = self._end_of(last.orelse or last.body)
        self._sheet.after(end, "")
        self._sheet.after(end, head + given, branch.lineno)


def _ordered(selection: Selection, then: str, otherwise: str) -> tuple[str, str]:
    """The two sides in the order in which the predicate chooses."""
    return (otherwise, then) if selection.predicate.inverted else (then, otherwise)


def _lambda(parameters: Sequence[str], value: str) -> str:
    head = f"lambda {', '.join(parameters)}:" if parameters else "lambda:"
    return f"{head} {value}"


def _tuple(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"({', '.join(names)})" if names else "None"


def _unique(names: Iterable[str], *functions: str) -> list[str]:
    return list(dict.fromkeys([*names, *functions]))


def _last_line(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno
