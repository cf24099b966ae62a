"""Structure of a module: functions, classes, attributes, positions, identifiers."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphmend.ir.module import Function, Module
from graphmend.ir.source import Source, read_source
from tests.ir.samples import module, standard_library

TEXT = '''
import torch

@deco(lambda: 1)
class C(Base, metaclass=M):
    """Doc."""
    level = 3
    a, b = 1, 2

    def __init__(self, n, *args, m=2, **kw):
        self.n = n
        self.x, (self.y, *self.z) = 1, (2, 3)
        self.deep.er = 4
        for self.i in range(3): pass
        with open(n) as self.file: pass
        def later(): self.late = 5
        def other(self): self.not_mine = 6
        self.n += 1
        n.self = 7

    @property
    def p(self): return self._p

    @p.setter
    def p(self, value): self._p = value

    @staticmethod
    def s(self): self.static = 1

    class Inner:
        def f(me): me.v = 8

async def outer(x):
    def inner():
        return [y for y in x if (lambda z: z + free)(y)]
    class Local:
        def m(self): return x
    free = 1
    return inner
'''


def test_functions_and_classes() -> None:
    parsed = module(TEXT)
    assert list(parsed.functions) == [
        "<lambda>",
        "C.__init__",
        "C.__init__.<locals>.later",
        "C.__init__.<locals>.other",
        "C.p",
        "C.p#2",
        "C.s",
        "C.Inner.f",
        "outer",
        "outer.<locals>.inner",
        "outer.<locals>.inner.<locals>.<lambda>",
        "outer.<locals>.Local.m",
    ]
    assert list(parsed.classes) == ["C", "C.Inner", "outer.<locals>.Local"]
    cls = parsed.classes["C"]
    assert list(cls.methods) == ["__init__", "p", "s"]
    assert cls.methods["p"] is parsed.functions["C.p"]
    assert [ast.unparse(base) for base in cls.bases] == ["Base"]
    assert _written(cls.assigns) == {"level": ["3"], "a": [None], "b": [None]}


def _written(values: dict[str, list[ast.expr | None]]) -> dict[str, list[str | None]]:
    return {k: [v and ast.unparse(v) for v in found] for k, found in values.items()}


def test_attributes_of_self() -> None:
    parsed = module(TEXT)
    found = parsed.classes["C"].attributes
    assert _written({k: [v for _, v in pairs] for k, pairs in found.items()}) == {
        "n": ["n", None],
        "x": ["1"],
        "y": [None],
        "z": [None],
        "i": [None],
        "file": [None],
        "late": ["5"],
        "_p": ["value"],
    }
    assert found["late"][0][0] is parsed.functions["C.__init__.<locals>.later"]
    inner = parsed.classes["C.Inner"].attributes
    assert _written({k: [v for _, v in pairs] for k, pairs in inner.items()}) == {"v": ["8"]}


def test_a_function_knows_its_place() -> None:
    parsed = module(TEXT)
    init, inner = parsed.functions["C.__init__"], parsed.functions["outer.<locals>.inner"]
    assert init.params == ["self", "n", "args", "m", "kw"]
    assert init.owner is parsed.classes["C"] and init.outer is None
    assert inner.outer is parsed.functions["outer"] and inner.owner is None
    assert inner.free_names() == {"x", "free"}
    assert inner.locals() == frozenset()
    outer = parsed.functions["outer"]
    assert outer.locals() == {"x", "inner", "Local", "free"} and not outer.free_names()
    assert outer.is_local("free") and not outer.is_local("torch")
    method = parsed.functions["outer.<locals>.Local.m"]
    assert method.outer is outer and method.owner is parsed.classes["outer.<locals>.Local"]


def _function_of(parsed: Module, name: str) -> Function | None:
    found = [n for n in ast.walk(parsed.tree) if isinstance(n, ast.Name) and n.id == name]
    return parsed.function_of(found[0])


def test_code_belongs_to_the_function_that_runs_it() -> None:
    parsed = module(
        """
        @decorator
        def f(a: annotation = default, *, b=lambda: inside) -> returned:
            body
            def g(c=inner_default): deep
            [element for element in first]
        class D(base): attribute
        """
    )
    f, g = parsed.functions["f"], parsed.functions["f.<locals>.g"]
    for name in ("decorator", "annotation", "default", "returned", "base", "attribute"):
        assert _function_of(parsed, name) is None
    for name in ("body", "inner_default", "element", "first"):
        assert _function_of(parsed, name) is f
    assert _function_of(parsed, "deep") is g
    assert _function_of(parsed, "inside") is parsed.functions["<lambda>"]
    assert parsed.function_of(f.node) is None and parsed.function_of(g.node) is f
    assert parsed.statement_of(f.node.args.defaults[0]) is f.node


def test_conditional_and_repeated_definitions_have_keys_of_their_own() -> None:
    parsed = module("if a:\n  def f(): 1\nelse:\n  def f(): 2\nclass f: pass\n")
    lines = {key: function.node.lineno for key, function in parsed.functions.items()}
    assert lines == {"f#2": 2, "f": 4}


def test_identifiers_cover_every_name() -> None:
    parsed = module(
        """
        import a1.a2 as a3
        from .b1 import b2
        def c1(c2, *c3, c4=1, **c5): global d1; e1.e2(e3=1)
        try: pass
        except f1 as f2: pass
        match g1:
            case g2(g3=g4) if 0: pass
            case {"k": 1, **g5} | [*g6]: pass
        """
    )
    names = "a1 a2 a3 b1 b2 c1 c2 c3 c4 c5 d1 e1 e2 e3 f1 f2 g1 g2 g3 g4 g5 g6"
    assert set(names.split()) <= parsed.identifiers()


def test_star_imports() -> None:
    parsed = module("from a.b import *\ndef f(): pass\nfrom .c import *\nfrom ...d import *\n")
    assert parsed.star_imports == ("a.b", "pkg.c")


# --- positions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "x = 'äöü€😀'; target(1)\n",
        "if 1:\r\n\tä = 1; target(1)\r\n",
        "\x0c\n\x0cx = 'é'; target(1)",
        "'''é\u2028\x0b\x85 no line ends\n€'''; target(1)\n",
        "x = (1 +\\\n  'ß'); target(1)\n",
        "f'é {x!r:>{w}} é'; target(1)\n",
    ],
)
def test_offsets_are_characters(text: str) -> None:
    parsed = Module.parse(Source(Path("x.py"), text), "x")
    calls = [n for n in ast.walk(parsed.tree) if isinstance(n, ast.Call)]
    assert [parsed.text_of(call) for call in calls] == ["target(1)"]
    starts = [0, *(i + 1 for i, c in enumerate(text) if c == "\n")]
    assert parsed.line_offsets == tuple(starts)


def test_parts_of_f_strings_have_their_own_text_or_that_of_the_string() -> None:
    for text in ("f'é{a.b()} {c!r}'", 'f"""\n é {\n a.b() } {c}"""', "f'{1:{a.b()}}' f'{c}'"):
        parsed = module(f"x = {text}\n")
        for node in ast.walk(parsed.tree):
            if isinstance(node, ast.Name | ast.Call) and node is not parsed.tree.body[0].targets[0]:
                assert parsed.text_of(node) in (ast.unparse(node), text)


def test_nodes_without_a_place_have_no_offsets() -> None:
    parsed = module("def f(): pass\n")
    with pytest.raises(ValueError, match="arguments nodes have no position"):
        parsed.offsets(parsed.functions["f"].node.args)


def test_offsets_agree_with_the_standard_library() -> None:
    for path in standard_library(every=400):
        parsed = Module.parse(read_source(path), path.stem)
        for node in ast.walk(parsed.tree):
            if isinstance(node, ast.stmt):
                assert parsed.text_of(node) == ast.get_source_segment(parsed.source.text, node)


# --- cost ----------------------------------------------------------------------------------


def test_reading_a_module_loads_neither_libcst_nor_networkx() -> None:
    code = (
        "import sys; from pathlib import Path; from graphmend.ir.source import Source;"
        "from graphmend.ir.module import Module; from graphmend.ir.prescan import has_candidates;"
        "m = Module.parse(Source(Path('x.py'), 'def f(x): return x'), 'x');"
        "m.functions['f'].flow; m.classes; has_candidates('x');"
        "assert not {'libcst', 'networkx', 'torch'} & sys.modules.keys()"
    )
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root, env=dict(os.environ))


def test_deep_expressions_do_not_exhaust_the_stack() -> None:
    parsed = module("def f(a): return " + " + ".join(["a"] * 1200) + "\n")
    assert parsed.functions["f"].locals() == {"a"}
    chain = "if a: b\n" + "".join(f"    elif c{i}: d\n" for i in range(1500))
    parsed = module("def f(a):\n    " + chain)
    assert len(parsed.functions["f"].cfg.nodes) == 3 + 2 * 1501
