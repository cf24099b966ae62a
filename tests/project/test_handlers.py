"""Where the exception of a guard is caught, and what TorchScript compiles."""

import ast

import pytest

from graphmend.analyses.handlers import catching, caught_by, scripted

HEAD = """
import contextlib, warnings, unittest
import pytest
import torch
from torch import nn
class BadScale(ValueError): pass
class Other(Exception): pass
"""


def guard(code, name="a.py", qualname=None):
    """The arguments of `caught_by` for the first `raise` or `assert` of a file."""
    module = code.module(name)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Raise | ast.Assert):
            function = module.function_of(node)
            if function is not None and qualname in (None, function.qualname):
                return code.project, function, getattr(node, "exc", None), node
    raise AssertionError("no guard")


def caught_at(write, text, **others):
    """The line (counted in `text`) and wording of what catches the first guard, or None."""
    files = {"a.py": HEAD + text, **{f"{k}.py": v for k, v in others.items()}}
    reason = caught_by(*guard(write(files)))
    return None if reason is None else str(reason)


CHECK = """
def check(x):
    if (x <= 0).any():
        raise {raised}
    return torch.relu(x)
"""


def caller(raised, block):
    return CHECK.format(raised=raised) + "def f(x):\n" + block


# -- caught by a caller --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raised", "clause"),
    [
        ("ValueError('m')", "ValueError"),
        ("ValueError", "Exception"),
        ("ValueError('m')", "BaseException"),
        ("BadScale('m')", "BadScale"),
        ("BadScale('m')", "ValueError"),
        ("BadScale('m')", "(TypeError, ValueError)"),
        ("BadScale('m')", "unknown.Error"),
        ("IndexError()", "LookupError"),
        ("NotImplementedError()", "RuntimeError"),
        ("make_error(x)", "TypeError"),
        ("torch.cuda.OutOfMemoryError()", "RuntimeError"),
    ],
)
@pytest.mark.semantics("T4", "refused")
def test_a_caller_catches(write, raised, clause):
    block = f"    try:\n        return check(x)\n    except {clause}:\n        return -x\n"
    assert f"`except {clause}` catches it in f" in caught_at(write, caller(raised, block))


@pytest.mark.parametrize(
    "block",
    [
        "    try:\n        return check(x)\n    except:\n        return -x\n",
        "    try:\n        x = check(x)\n    except ValueError as e:\n        raise Other from e\n",
        "    with contextlib.suppress(ValueError):\n        return check(x)\n",
        "    with contextlib.suppress(TypeError, Exception):\n        return check(x)\n",
        "    with pytest.raises(ValueError):\n        return check(x)\n",
        "    with unknown(x):\n        return check(x)\n",
        "    with contextlib.ExitStack() as s:\n        return check(x)\n",
        "    try:\n        x = [check(y) for y in x]\n    except ValueError:\n        return -x\n",
        "    try:\n        return inner(x)\n    except ValueError:\n        return -x\n"
        "def inner(x):\n    return check(torch.relu(x))\n",
        "    try:\n        return list(map(check, x))\n    except ValueError:\n        return -x\n",
    ],
)
@pytest.mark.semantics("T4", "refused")
def test_other_ways_of_catching(write, block):
    assert caught_at(write, caller("ValueError('m')", block)) is not None


@pytest.mark.semantics("T4", "refused")
def test_a_caller_in_another_file_catches(write):
    code = write(
        {
            "checks.py": "def check(x):\n    if x.any():\n        raise ValueError('m')\n",
            "b.py": "import torch\nfrom checks import check\ndef f(x):\n    try:\n"
            "        check(x)\n    except ValueError:\n        return torch.relu(x)\n",
        }
    )
    reason = caught_by(*guard(code, "checks.py"))
    assert (reason.path, reason.line, reason.function) == (code.root / "b.py", 6, "f")


@pytest.mark.semantics("T4", "refused")
def test_a_module_whose_caller_catches(write):
    text = """
class Scale(nn.Module):
    def forward(self, x):
        if x.any():
            raise BadScale("m")
        return x
class Net(nn.Module):
    def __init__(self):
        self.scale = Scale()
    def forward(self, x):
        try:
            return self.scale(x)
        except BadScale:
            return x
"""
    assert "Net.forward" in caught_at(write, text)


@pytest.mark.semantics("T4", "refused")
def test_a_wrapper_catches(write):
    text = """
def deco(fn):
    def wrapper(x):
        try:
            return fn(x)
        except ValueError:
            return x
    return wrapper
@deco
def check(x):
    if x.any():
        raise ValueError("m")
    return torch.relu(x)
"""
    code = write({"a.py": HEAD + text})
    assert "wrapper" in str(caught_by(*guard(code, qualname="check")))


@pytest.mark.semantics("T4", "refused")
def test_the_project_s_own_context_managers(write):
    text = """
class Swallow:
    def __enter__(self): return self
    def __exit__(self, kind, value, trace): return True
class Pass:
    def __enter__(self): return self
    def __exit__(self, kind, value, trace): self.done = True
@contextlib.contextmanager
def swallow():
    try:
        yield
    except ValueError:
        pass
@contextlib.contextmanager
def let_through():
    try:
        yield
    finally:
        print()
def check(x):
    with {context}:
        if x.any():
            raise ValueError("m")
        return torch.relu(x)
"""
    found = {}
    for context in ("Swallow()", "Pass()", "swallow()", "let_through()"):
        files = {"a.py": HEAD + text.replace("{context}", context)}
        found[context] = caught_by(*guard(write(files))) is not None
    assert found == {"Swallow()": True, "Pass()": False, "swallow()": True, "let_through()": False}


@pytest.mark.parametrize(
    ("method", "raised"),
    [
        ("__getattr__(self, x)", "AttributeError"),
        ("__getitem__(self, x)", "IndexError"),
        ("__getitem__(self, x)", "KeyError"),
        ("__contains__(self, x)", "KeyError"),
        ("__next__(self, x)", "StopIteration"),
    ],
)
@pytest.mark.semantics("T4", "refused")
def test_protocols_that_catch(write, method, raised):
    text = f"class A:\n    def {method}:\n        if x.any():\n            raise {raised}(x)\n"
    assert raised in caught_at(write, text) or "LookupError" in caught_at(write, text)


@pytest.mark.semantics("T4", "refused")
def test_a_property_that_raises_attribute_error(write):
    text = (
        "class A:\n    @property\n    def x(self):\n        if self.t.any():\n"
        "            raise AttributeError\n"
    )
    assert "AttributeError" in caught_at(write, text)


@pytest.mark.semantics("T4", "refused")
def test_a_generator_that_raises_stop_iteration(write):
    text = "def f(x):\n    yield x\n    if x.any():\n        raise StopIteration\n"
    assert "StopIteration" in caught_at(write, text)


def test_asserts_and_checking_calls(write):
    text = """
def check(ok):
    assert ok
def f(x):
    try:
        check(x.any())
        torch._check(x.any())
        torch._check_value(x.any())
    except {clause}:
        return torch.relu(x)
"""
    found = {}
    for clause in ("AssertionError", "RuntimeError", "ValueError"):
        code = write({"a.py": HEAD + text.replace("{clause}", clause)})
        function = code.function("a.py", "f")
        body = function.node.body[0].body
        found[clause] = [caught_by(code.project, function, None, s) is not None for s in body]
        assert (caught_by(*guard(code)) is not None) == (clause == "AssertionError")
    assert found == {
        "AssertionError": [True, False, False],
        "RuntimeError": [False, True, False],
        "ValueError": [False, False, True],
    }


# -- not caught ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "block",
    [
        "    return check(x)\n",
        "    try:\n        return check(x)\n    except TypeError:\n        return -x\n",
        "    try:\n        return check(x)\n    except Other:\n        return -x\n",
        "    try:\n        return check(x)\n    except ValueError:\n        raise\n",
        "    try:\n        return check(x)\n    except ValueError as e:\n        raise e\n",
        "    try:\n        pass\n    except ValueError:\n        return check(x)\n",
        "    try:\n        pass\n    except ValueError:\n        x\n    else:\n        check(x)\n",
        "    with contextlib.suppress(TypeError):\n        return check(x)\n",
        "    with torch.no_grad(), torch.autocast('cpu'):\n        return check(x)\n",
        "    with warnings.catch_warnings():\n        return check(x)\n",
        "    c = torch.no_grad() if x is None else contextlib.nullcontext()\n"
        "    with c:\n        return check(x)\n",
    ],
)
@pytest.mark.semantics("T4", "legal")
def test_not_caught(write, block):
    assert caught_at(write, caller("ValueError('m')", block)) is None


def test_a_caller_that_is_not_traced_still_catches(write):
    text = caller("ValueError('m')", "    return check(x)\n") + (
        "def train(x, loader):\n    for x in loader:\n        try:\n            f(x)\n"
        "        except ValueError:\n            print(x)\n"
    )
    assert caught_at(write, text) is None


# -- finally, and callers that were not seen -----------------------------------------------


def test_finally_is_reported_apart(write):
    block = "    try:\n        return check(x)\n    finally:\n        print(x)\n"
    answer = catching(*guard(write({"a.py": HEAD + caller("ValueError", block)})))
    assert answer.caught is None and answer.in_finally.function == "f"


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("def _f(x):\n    assert x.any()\ndef _g(x):\n    _f(torch.relu(x))\n", False),
        ("def f(x):\n    assert torch.relu(x)\n", True),
        ("def _f(x):\n    assert x.any()\nT = [_f]\n", True),
        ("class N(nn.Module):\n    def forward(self, x):\n        assert x.any()\n", True),
        ("from b import deco\n@deco\ndef _f(x):\n    assert torch.relu(x)\n", True),
    ],
)
def test_whether_all_callers_are_known(write, text, unknown):
    code = write({"a.py": HEAD + text})
    answer = catching(*guard(code))
    assert (answer.unknown is not None) == unknown


# -- TorchScript ---------------------------------------------------------------------------

SCRIPTED = """
    import torch
    from torch import nn
    @torch.jit.script
    def one(x): return helper(x)
    def helper(x): return x
    def two(x): return x
    torch.jit.script(two)
    class Part(nn.Module):
        def forward(self, x): return x
        def unused(self, x): return x
    class Net(nn.Module):
        def __init__(self):
            self.part = Part()
        def forward(self, x): return self.part(x)
    class Free(nn.Module):
        def forward(self, x): return x
    def free(x): return x
    """


@pytest.mark.semantics("X1", "refused")
def test_scripted(write):
    code = write(
        {"a.py": SCRIPTED, "b.py": "import torch\nfrom a import Net\nm = torch.jit.script(Net())\n"}
    )
    found = {q for q, f in code.module("a.py").functions.items() if scripted(code.project, f)}
    assert found == {"one", "helper", "two", "Part.forward", "Net.forward"}


def test_nothing_is_scripted_where_torchscript_is_only_asked(write):
    code = write({"a.py": "import torch\ndef f(x):\n    return torch.jit.is_scripting()\n"})
    assert not scripted(code.project, code.function("a.py", "f"))
