"""A small mender with predictable results: every `print(..)` in a function is outlined.

It writes what graphmend writes: an import, a decorated function above the top-level statement,
and a call at the site.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from graphmend.findings import Category, Edit, Finding, Grade, Result, Status

IMPORT = "from typing import no_type_check as outlined\n"


@dataclass
class Mender:
    """Stands in for `graphmend.api.fix_source`."""

    calls: list[str] = field(default_factory=list)
    consulted: set[Path] = field(default_factory=set)

    def __call__(self, source: str, filename: str, **options: object) -> Result:
        self.calls.append(filename)
        return mend(source, filename, frozenset(self.consulted))


def mend(text: str, filename: str, consulted: frozenset[Path] = frozenset()) -> Result:
    """Outline the prints; a print with `file=` is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    edits: list[Edit] = []
    findings: list[Finding] = []
    for top in tree.body:
        for site in (n for n in ast.walk(top) if n is not top and _is_print(n)):
            refused = any(k.arg == "file" for k in site.value.keywords)
            findings.append(_finding(site, filename, refused))
            if not refused:
                edits += _outline(text, top, site, len(edits))
    if edits:
        start = _offset(text, 1 + _head_end(tree), 0)
        edits.insert(0, Edit(start, start, IMPORT, 1))
    edits.sort(key=lambda e: e.start)
    return Result(_apply(text, edits), tuple(findings), tuple(edits), consulted)


def _is_print(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "print"
    )


def _outline(text: str, top: ast.stmt, site: ast.stmt, number: int) -> list[Edit]:
    start = _offset(text, site.lineno, site.col_offset)
    end = _offset(text, site.end_lineno, site.end_col_offset)
    names = sorted({n.id for n in ast.walk(site) if isinstance(n, ast.Name)} - {"print"})
    lines = text[start:end].split("\n")
    body = [lines[0], *(line.removeprefix(" " * (site.col_offset - 4)) for line in lines[1:])]
    name = f"_outlined_{number}"
    head = f"@outlined\ndef {name}({', '.join(names)}):\n    "
    above = min([top.lineno, *(d.lineno for d in getattr(top, "decorator_list", []))])
    at = _offset(text, above, 0)
    return [
        Edit(at, at, head + "\n".join(body) + "\n\n\n", site.lineno - 2),
        Edit(start, end, f"{name}({', '.join(names)})", site.lineno),
    ]


def _head_end(tree: ast.Module) -> int:
    """The last line of the docstring and the imports that open the module."""
    end = 0
    for node in tree.body:
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_docstring and not isinstance(node, ast.Import | ast.ImportFrom):
            break
        end = node.end_lineno
    return end


def _offset(text: str, line: int, column: int) -> int:
    lines = text.split("\n")
    characters = len(lines[line - 1].encode()[:column].decode())
    return sum(len(part) + 1 for part in lines[: line - 1]) + characters


def _apply(text: str, edits: list[Edit]) -> str:
    for edit in reversed(edits):
        text = text[: edit.start] + edit.replacement + text[edit.end :]
    return text


def _finding(site: ast.stmt, path: str, refused: bool) -> Finding:
    return Finding(
        code="GM201",
        category=Category.LOGGING,
        path=path,
        line=site.lineno,
        column=site.col_offset + 1,
        end_line=site.end_lineno,
        end_column=site.end_col_offset + 1,
        function="",
        message="print",
        break_type="",
        status=Status.REFUSED if refused else Status.FIXED,
        grade=None if refused else Grade.SAFE,
        reason="writes to a file" if refused else None,
    )
