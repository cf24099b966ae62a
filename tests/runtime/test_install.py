"""How the package attaches to torch, each case in a fresh process."""

import subprocess
import sys
import textwrap

import pytest


def _run(program, *, check=True):
    done = subprocess.run(
        [sys.executable, "-W", "always::RuntimeWarning:graphmend", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not check or done.returncode == 0, done.stderr
    return done


_PROGRAM = """
from graphmend.runtime import deferral_status, deferred_check, deferred_effect

@deferred_effect
def report(text):
    print(text)

@deferred_check
def require(flag):
    if flag:
        raise ValueError("negative")

def run(x):
    y = x + 1
    report("run")
    require((y < 0).any())
    return y

def graphs():
    count = 0
    def backend(module, inputs):
        nonlocal count
        count += 1
        return module.forward
    compiled = torch.compile(run, backend=backend)
    assert compiled(torch.ones(2)).tolist() == [2.0, 2.0]
    try:
        compiled(-2 * torch.ones(2))
    except ValueError as error:
        assert error.args == ("negative",)
    else:
        raise AssertionError
    return count
"""


def test_importing_the_package_imports_nothing_of_torch():
    _run(
        """
        import sys
        import graphmend.runtime
        graphmend.runtime.deferred_check(lambda flag: None)
        assert not [name for name in sys.modules if name.split(".")[0] == "torch"]
        assert graphmend.runtime.deferral_status().state == "waiting"
        """
    )


def test_importing_torch_does_not_import_its_compiler():
    _run(
        """
        import sys
        import torch
        loaded = set(sys.modules)
        import graphmend.runtime
        assert not [n for n in set(sys.modules) - loaded if n.startswith("torch")]
        """
    )


@pytest.mark.parametrize(
    "program",
    [
        "import torch, torch._dynamo\n" + _PROGRAM,
        _PROGRAM + "\nimport torch\n",
        _PROGRAM + "\nimport torch._dynamo as compiler, torch\n",
    ],
)
def test_it_attaches_whichever_is_imported_first(program):
    done = _run(program + "\nassert graphs() == 1\nassert deferral_status().state == 'verified'")
    assert done.stdout == "run\nrun\n"
    assert "graphmend" not in done.stderr


def test_a_program_that_does_not_compile_never_loads_the_compiler():
    _run(
        "import sys, torch"
        + _PROGRAM
        + textwrap.dedent(
            """
            run(torch.ones(2))
            assert "graphmend.runtime.internals" not in sys.modules
            """
        )
    )


_BROKEN = {
    "a missing method": "del torch._dynamo.output_graph.OutputGraph.call_user_compiler",
    "another signature": """
original = torch._dynamo.output_graph.OutputGraph.compile_subgraph
torch._dynamo.output_graph.OutputGraph.compile_subgraph = (
    lambda self, *args, **kwargs: original(self, *args, **kwargs)
)
""",
    "a method that is not called any more": """
original = torch._dynamo.output_graph.OutputGraph.codegen_suffix
import graphmend.runtime
torch._dynamo.output_graph.OutputGraph.codegen_suffix = original
""",
    "an unknown error": """
import graphmend.runtime.calls
def broken(*args):
    raise KeyError("changed")
graphmend.runtime.calls.surroundings = broken
""",
}


@pytest.mark.parametrize("name", _BROKEN)
def test_broken_internals_leave_the_breaks_and_warn_once(name):
    program = "import torch, torch._dynamo\n" + _BROKEN[name] + _PROGRAM
    if name != "a missing method":  # without it torch itself does not compile
        program += """
graphs()
torch._dynamo.reset()
before = graphs()
assert before != 1, before
torch._dynamo.reset()
assert graphs() == before
"""
    done = _run(program + "assert deferral_status().reason")
    assert done.stderr.count("RuntimeWarning: graphmend") == 1, done.stderr
