"""Who calls a function."""

import ast

import pytest

from graphmend.ir.callers import CallersUnknown, Use


def uses(code, name, qualname):
    """The uses of a function: (file, text, use), in the order found."""
    found = code.project.callers(code.function(name, qualname))
    assert not isinstance(found, CallersUnknown), found
    return [(s.module.path.name, ast.unparse(s.call), s.use) for s in found]


# -- what cannot be listed says so ---------------------------------------------------------


def test_a_name_in_very_many_files_is_unknown(write):
    files = {"a.py": "def common(): pass\n"}
    files |= {f"m{i}.py": "from a import common\ncommon()\n" for i in range(210)}
    code = write(files)
    answer = code.project.callers(code.function("a.py", "common"))
    assert isinstance(answer, CallersUnknown) and "common" in answer.reason
    assert not code.project.consulted & {code.root / f"m{i}.py" for i in range(210)}


@pytest.mark.parametrize("name", ["__len__", "<lambda>"])
def test_what_has_no_name_to_look_for_is_unknown(write, name):
    code = write({"a.py": "class A:\n    def __len__(self): pass\n    x = lambda: 1\n"})
    found = next(f for f in code.module("a.py").functions.values() if f.name == name)
    assert isinstance(code.project.callers(found), CallersUnknown)


# -- what is not a call of this function ---------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "def check(): pass\ncheck()\n",
        "from c import check\ncheck()\n",
        "# check()\nTEXT = 'check()'\n",
        "def f(check):\n    check()\n",
        "def recheck(): pass\nrecheck()\n",
        "import c\nc.check()\n",
    ],
)
def test_others_of_the_same_name(write, text):
    code = write({"a.py": "def check(): pass\n", "b.py": text, "c.py": "def check(): pass\n"})
    assert uses(code, "a.py", "check") == []


def test_a_method_of_another_class_is_not_a_caller(write):
    code = write(
        {
            "a.py": "class A:\n    def check(self): pass\n",
            "b.py": "class B:\n    def check(self): pass\nB().check()\n",
        }
    )
    assert uses(code, "a.py", "A.check") == []


def test_arguments_that_do_not_fit_are_not_a_caller(write):
    code = write(
        {
            "a.py": "class A:\n    def check(self, x): pass\n",
            "b.py": "def f(o):\n    o.check(1, 2)\n    o.check(y=1)\n    o.check()\n",
        }
    )
    assert uses(code, "a.py", "A.check") == []


# -- what is -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("from a import check\ncheck(1)\n", "check(1)"),
        ("from a import (\n    other,\n    check,\n)\ncheck(1)\n", "check(1)"),
        ("from a import check as c\nc(1)\n", "c(1)"),
        ("from a import *\ncheck(1)\n", "check(1)"),
        ("import a\na.check(1)\n", "a.check(1)"),
        ("import a as b\ndef f():\n    b.check(1)\n", "b.check(1)"),
        ("def f():\n    from a import check\n    check(1)\n", "check(1)"),
    ],
)
def test_calls_of_a_function(write, text, call):
    code = write({"a.py": "def check(x): pass\ndef other(): pass\n", "b.py": text})
    assert uses(code, "a.py", "check") == [("b.py", call, Use.CALL)]


def test_functions_handed_on_and_decorators(write):
    code = write(
        {
            "a.py": "def check(x): return x\n",
            "b.py": """
                from a import check
                map(check, [1])
                T = {'a': check}
                @check
                def f(): pass
                """,
        }
    )
    assert uses(code, "a.py", "check") == [
        ("b.py", "map(check, [1])", Use.REFERENCE),
        ("b.py", "check", Use.REFERENCE),
        ("b.py", "check", Use.DECORATOR),
    ]
    sites = code.project.callers(code.function("a.py", "check"))
    assert sites[-1].function is code.function("b.py", "f")


def test_methods(write):
    code = write(
        {
            "a.py": """
                class A:
                    def check(self, x): pass
                    def run(self):
                        self.check(1)
                class B(A):
                    def run(self):
                        super().check(2)
                """,
            "b.py": "from a import A\nA().check(3)\ndef f(o):\n    o.check(4)\n",
        }
    )
    assert uses(code, "a.py", "A.check") == [
        ("a.py", "self.check(1)", Use.CALL),
        ("a.py", "super().check(2)", Use.CALL),
        ("b.py", "A().check(3)", Use.CALL),
        ("b.py", "o.check(4)", Use.MAYBE),
    ]


def test_a_hook_is_called_by_the_base_class(write):
    code = write(
        {
            "a.py": "from b import Base\nclass A(Base):\n    def hook(self): pass\n",
            "b.py": "class Base:\n    def hook(self): pass\n"
            "    def run(self):\n        self.hook()\n",
        }
    )
    assert uses(code, "a.py", "A.hook") == [("b.py", "self.hook()", Use.CALL)]


def test_a_property_is_called_by_reading_it(write):
    code = write(
        {
            "a.py": """
                class A:
                    @property
                    def size(self): return 1
                    def run(self): return self.size
                """
        }
    )
    assert uses(code, "a.py", "A.size") == [("a.py", "self.size", Use.CALL)]


def test_forward_is_called_through_the_object(write):
    code = write(
        {
            "a.py": """
                from torch import nn
                class A(nn.Module):
                    def forward(self, x): pass
                class Net(nn.Module):
                    def __init__(self):
                        self.a = A()
                    def forward(self, x):
                        checkpoint(self.a.__call__, x)
                        return self.a(x)
                """,
        }
    )
    assert uses(code, "a.py", "A.forward") == [
        ("a.py", "self.a(x)", Use.CALL),
        ("a.py", "checkpoint(self.a.__call__, x)", Use.REFERENCE),
    ]
    local = code.project.local_calls(code.function("a.py", "A.forward"))
    assert [(c.function.qualname, ast.unparse(c.call)) for c in local] == [
        ("Net.forward", "self.a(x)")
    ]


def test_a_nested_function_is_called_in_its_own_module(write):
    code = write(
        {
            "a.py": "def f():\n    def g(): pass\n    g()\n",
            "b.py": "def h():\n    def g(): pass\n    g()\n",
        }
    )
    assert uses(code, "a.py", "f.<locals>.g") == [("a.py", "g()", Use.CALL)]
