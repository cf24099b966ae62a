"""From outlined statements to edits of the text: at the sites, above them, among the imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence

from graphmend.findings import Edit
from graphmend.ir.module import Module
from graphmend.rewrite.names import Names
from graphmend.rewrite.outline import Outline
from graphmend.rewrite.refusal import Refused
from graphmend.rewrite.text import line_end

_RUNTIME = "graphmend.runtime"


RUNTIME_NAMES = (
    "deferred_check",
    "deferred_effect",
    "async_check",
    "select",
    "either",
    "both",
    "negated",
)


def runtime_names(module: Module, names: Names) -> dict[str, str]:
    """What the runtime's functions are called in this module, imported already or not."""
    found = {
        alias.name: alias.asname or alias.name
        for node in module.tree.body
        if isinstance(node, ast.ImportFrom) and node.module == _RUNTIME and not node.level
        for alias in node.names
    }
    for name in RUNTIME_NAMES:
        if name not in found:
            found[name] = names.fresh(name)
    return found


def edits_for(module: Module, outlines: Sequence[Outline]) -> list[Edit]:
    """The edits that put `outlines` into the module, in order of their places."""
    newline = module.source.newline
    edits = [
        edit
        for outline in outlines
        for edit in (_definition(module, outline, newline), site_edit(module, outline))
    ]
    return sorted(edits, key=lambda e: (e.start, e.end))


def site_edit(module: Module, outline: Outline) -> Edit:
    """The edit at the site. Raises `Refused` where the call does not fit its place."""
    text, statement = module.source.text, outline.site.statement
    newline, step = module.source.newline, module.cst.default_indent
    start, end = statement_span(module, statement)
    line_start = module.line_offsets[statement.lineno - 1]
    indent = text[line_start:start]
    if indent.strip():
        if outline.condition is not None:
            raise Refused("it shares its line with other statements")
        indent = re.match(r"[ \t\f]*", indent)[0]  # type: ignore[index]
    call = outline.call(indent, step, newline)
    if isinstance(statement, ast.If) and text.startswith("elif", start):
        inner = indent + step
        call = f"else:{newline}{inner}{outline.call(inner, step, newline)}"
    return Edit(start, end, call, statement.lineno)


def statement_span(module: Module, statement: ast.stmt) -> tuple[int, int]:
    """The text that moves with a statement: with the comments that end its last block."""
    text = module.source.text
    start, end = module.offsets(statement)
    if not isinstance(statement, ast.If):
        return start, end
    end = line_end(text, end)
    body_indent = (
        statement.body[0].col_offset if statement.body[0].lineno > statement.lineno else None
    )
    while body_indent is not None:
        following = re.compile(r"\r?\n((?:[ \t\f]*\r?\n)*)([ \t]*)#[^\r\n]*").match(text, end)
        if following is None or len(following[2]) < body_indent:
            break
        end = following.end()
    return start, end


def _definition(module: Module, outline: Outline, newline: str) -> Edit:
    """The outlined function, directly above the top-level statement that holds the site."""
    first = _first_line(_top_level(module, outline.site.statement))
    text = module.source.text
    lines = module.line_offsets
    while first > 1 and text.startswith("#", lines[first - 2]):
        first -= 1
    start = lines[first - 1]
    function = outline.function(module.cst)
    # The decorator and the `def` come before the moved statement's own first line.
    origin = max(outline.site.statement.lineno - 2, 1)
    return Edit(start, start, function + newline * 3, origin)


def _first_line(statement: ast.stmt) -> int:
    """The line that a statement starts on, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(d.lineno for d in decorators)])


def _last_on_its_line(module: Module, statement: ast.stmt) -> ast.stmt:
    """The last of the module's statements that semicolons join to `statement`."""
    last = statement
    for node in module.tree.body[module.tree.body.index(statement) + 1 :]:
        if node.lineno != last.end_lineno:
            break
        last = node
    return last


def _top_level(module: Module, statement: ast.stmt) -> ast.stmt:
    node: ast.AST = statement
    while (parent := module.parent(node)) is not None and parent is not module.tree:
        node = parent
    assert isinstance(node, ast.stmt)
    return node


def import_edit(module: Module, used: Collection[str], runtime: dict[str, str]) -> Edit | None:
    """The import of what is used of the runtime and not imported yet.

    `runtime` says what each of its functions is called here.
    """
    newline = module.source.newline
    imported = {
        alias.name
        for node in module.tree.body
        if isinstance(node, ast.ImportFrom) and node.module == _RUNTIME
        for alias in node.names
    }
    wanted = [
        name if name == runtime[name] else f"{name} as {runtime[name]}"
        for name in sorted(set(used) - imported)
    ]
    if not wanted:
        return None
    line = f"from {_RUNTIME} import {', '.join(wanted)}"
    text = module.source.text
    after = _last_import(module)
    if after is None:
        first = _first_line(module.tree.body[0])
        start = module.line_offsets[first - 1]
        return Edit(start, start, line + newline, first)
    end = line_end(text, module.offsets(_last_on_its_line(module, after))[1])
    gap = newline * 2 if not isinstance(after, ast.Import | ast.ImportFrom) else newline
    return Edit(end, end, gap + line, after.lineno)


def _last_import(module: Module) -> ast.stmt | None:
    """The last of the imports that open the module, or the docstring."""
    last: ast.stmt | None = None
    for node in module.tree.body:
        is_docstring = last is None and isinstance(node, ast.Expr)
        if not isinstance(node, ast.Import | ast.ImportFrom) and not is_docstring:
            break
        last = node
    return last
