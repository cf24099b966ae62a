"""Every statement has a libcst twin that is the same code."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import libcst
import pytest

from graphmend.ir.module import Module
from graphmend.ir.source import Source, SourceError, read_source
from tests.ir.samples import module, standard_library

# Valid programs that libcst rejects, or that nest too deep for it.
_BEYOND_LIBCST = {"test_grammar.py", "ann_module.py", "topics.py"}


def _statements(parsed: Module) -> list[ast.stmt]:
    return [node for node in ast.walk(parsed.tree) if isinstance(node, ast.stmt)]


def _code(parsed: Module, statement: ast.stmt) -> str:
    """The twin's code, alone and not indented."""
    twin = parsed.cst_statement(statement)
    if isinstance(twin, libcst.BaseSmallStatement):
        line = twin.with_changes(semicolon=libcst.MaybeSentinel.DEFAULT)
        return parsed.cst.code_for_node(libcst.SimpleStatementLine([line]))
    code = parsed.cst.code_for_node(twin)
    return code.replace("elif", "if", 1) if code.lstrip().startswith("elif") else code


def _check(parsed: Module) -> None:
    for statement in _statements(parsed):
        code = _code(parsed, statement)
        found = ast.parse(code).body
        assert [ast.dump(f) for f in found] == [ast.dump(statement)], code


@pytest.mark.parametrize("start", range(2))
def test_twins_are_the_same_code(start: int) -> None:
    for path in standard_library(every=60)[start::2]:
        _check(Module.parse(read_source(path), path.stem))


@pytest.mark.slow
def test_twins_are_the_same_code_everywhere(libraries: list[Path]) -> None:
    for path in libraries:
        if path.name not in _BEYOND_LIBCST:
            parsed = Module.parse(read_source(path), path.stem)
            for statement in _statements(parsed):
                assert parsed.cst_statement(statement) is not None


SYNTAX = """
@decorated
@again(1)
class C(A, metaclass=B):  # comment
    x: int = 1; y = 2; z = 3

    @property
    async def f(self, *a, **k): return await g()

if a: b; c
elif d:
    e
elif f:
    g
else: h
for i in j:
    continue
else:
    k
while l: break
else: m
try:
    n
except (O, P) as p:
    q
except: r
else: s
finally: t
try: u
except* V: w
with (x as y, z): pass
async def f():
    async with a: pass
    async for b in c: pass
    else: d
match a:
    case [1, {"k": v}] if v: b
    case _:
        c
        # the last comment
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_all_compound_statements(newline: str) -> None:
    parsed = Module.parse(Source(Path("x.py"), SYNTAX.replace("\n", newline)), "x")
    _check(parsed)
    assert "the last comment" in _code(parsed, parsed.tree.body[-1])


def test_code_that_libcst_rejects_spoils_no_other_statement() -> None:
    parsed = module("x = 1\ndef f():\n    (y): int = 2\n    z = 3\nw = 4\n")
    inside = parsed.functions["f"].statements[1]
    with pytest.raises(SourceError, match="line 2: libcst cannot parse the code"):
        parsed.cst_statement(inside)
    assert [_code(parsed, parsed.tree.body[i]) for i in (0, 2)] == ["x = 1\n", "w = 4\n"]


def test_comments_that_libcst_loses_at_an_end_are_no_obstacle() -> None:
    parsed = module("x = [1,\n     2]\n     # one\n     # two\n\ny = 3 # three")
    assert [_code(parsed, node) for node in parsed.tree.body] == ["x = [1,\n     2]\n", "y = 3\n"]


def test_a_space_that_libcst_drops_is_no_obstacle() -> None:
    parsed = module("def f():\n    try: a\n    except E : b\n    c\n")
    assert _code(parsed, parsed.functions["f"].statements[-1]) == "c\n"


@pytest.mark.parametrize(
    ("text", "indent"),
    [
        ("x = 1\n", "    "),
        ("if x: y\n", "    "),
        ("if x:\n\ty\n", "\t"),
        ("def f():\n  @g\n  def h():\n     pass\n", "  "),
        ("class C:\n   '''doc\n'''\n", "   "),
    ],
)
def test_the_printer_knows_the_indentation(text: str, indent: str) -> None:
    assert module(textwrap.dedent(text)).cst.default_indent == indent
