"""Which fixes are made, and what is said of those that are not: `--unsafe`, `--plain`, `--trap`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from graphmend.api import check_source

SAFE = """
import torch

def forward(x):
    if torch.isnan(x).any():
        raise ValueError("nan")
    return x * 2

model = torch.compile(forward)
"""
UNSAFE = """
import torch

def forward(x, logger):
    logger.info("largest %s", x.max())
    return x * 2

model = torch.compile(forward)
"""
ASSUMPTION = "assumes that `logger` is a logging.Logger"
NOT_PLAIN = "the fix would import graphmend at run time (--plain)"


def test_an_unsafe_site_is_left_and_says_what_the_option_would_do(graphmend, write):
    path = write("a.py", UNSAFE)
    ran = graphmend("fix", "a.py")
    assert ran.code == 1 and path.read_text() == UNSAFE
    assert ran.out.endswith(f"[refused: {ASSUMPTION}; --unsafe mends it]\n")
    assert "1 fixable with --unsafe" in ran.err
    assert graphmend("fix", "--unsafe", "a.py").code == 0
    assert "deferred_effect" in path.read_text()


def test_an_unsafe_site_names_one_assumption_in_text_and_in_json(graphmend, write):
    write("a.py", UNSAFE)
    assert graphmend("check", "--unsafe", "a.py").out.endswith(f"[fixable, unsafe: {ASSUMPTION}]\n")
    for options, status in ((), "refused"), (("--unsafe",), "fixable"):
        ran = graphmend("check", "--format", "json", *options, "a.py")
        (finding,) = json.loads(ran.out)["findings"]
        assert (finding["grade"], finding["status"]) == ("unsafe", status)
        assert finding["reason"] == ASSUMPTION


@pytest.mark.parametrize("code", ["GM201", "GM202", "GM203", "GM301"])
def test_explain_names_the_assumption_of_unsafe_fixes(graphmend, code):
    assert graphmend("explain", code).out.count("\n**Assumed, where the grade is unsafe**: ") == 1


TWO_LOGGERS = """
import torch

def forward(x, logger, log):
    if torch.isnan(x).any():
        print("nan")
        logger.info("nan")
        log.info("nan")
    return x * 2

model = torch.compile(forward)
"""


@pytest.mark.parametrize("last", ["", "        raise ValueError\n"], ids=["output", "guard"])
def test_the_assumption_covers_all_output_of_a_branch(graphmend, write, last):
    path = write("a.py", TWO_LOGGERS.replace("    return", f"{last}    return"))
    before = path.read_text()
    ran = graphmend("fix", "--format", "json", "a.py")
    (finding,) = json.loads(ran.out)["findings"]
    both = f"{ASSUMPTION} and `log` is a logging.Logger"
    assert (finding["status"], finding["reason"]) == ("refused", both)
    assert path.read_text() == before


@pytest.mark.parametrize("text", [SAFE, UNSAFE], ids=["guard", "output"])
@pytest.mark.parametrize("command", ["check", "fix"])
@pytest.mark.semantics("X3", "refused")
def test_plain_refuses_what_needs_the_runtime(graphmend, write, text, command):
    path = write("a.py", text)
    ran = graphmend(command, "--plain", "--unsafe", "a.py")
    assert ran.code == 1 and path.read_text() == text
    assert ran.out.endswith(f"[refused: {NOT_PLAIN}]\n")


def test_plain_is_said_in_json_too(graphmend, write):
    write("a.py", SAFE)
    ran = graphmend("check", "--plain", "--format", "json", "a.py")
    (finding,) = json.loads(ran.out)["findings"]
    assert (finding["status"], finding["grade"], finding["reason"]) == ("refused", None, NOT_PLAIN)


def test_a_stored_result_is_that_of_the_same_options(graphmend, write):
    write("a.py", SAFE)
    for _ in range(2):
        assert "fixable" in graphmend("check", "a.py").out
        assert NOT_PLAIN in graphmend("check", "--plain", "a.py").out


def test_plain_holds_for_a_program_that_is_run(graphmend, write):
    write("a.py", SAFE + "\nprint('graphmend.runtime' in __import__('sys').modules)\n")
    for options, expected in ((), "True"), (("--plain",), "False"):
        assert _run_in_a_process(*options) == expected


def test_trap_async_changes_the_form_of_guards_only(graphmend, write):
    path = write("a.py", SAFE)
    output = write("b.py", UNSAFE)
    assert graphmend("fix", "--unsafe", "--trap", "async", "a.py", "b.py").code == 0
    assert "async_check" in path.read_text() and "deferred_check" not in path.read_text()
    assert "deferred_effect" in output.read_text()


def test_plain_and_trap_async_rest_on_an_assumption(graphmend, write):
    path = write("a.py", SAFE)
    options = ("--plain", "--trap", "async", "a.py")
    ran = graphmend("fix", *options)
    assert ran.code == 1 and path.read_text() == SAFE
    assert "assumes that nothing catches the guard's exception: compiled, a RuntimeError" in ran.out
    assert ran.out.endswith("; --unsafe mends it]\n")
    assert graphmend("fix", "--unsafe", *options).code == 0
    assert "graphmend" not in path.read_text() and "torch._assert_async" in path.read_text()


@pytest.mark.parametrize("options", [(), ("--trap", "async")], ids=["deferred", "async"])
def test_a_program_that_is_run_raises_its_own_exception(graphmend, write, options):
    program = SAFE.replace("compile(forward)", 'compile(forward, backend="eager", fullgraph=True)')
    write("a.py", program + "\nmodel(torch.tensor(float('nan')))\n")
    command = [sys.executable, "-m", "graphmend", "run", *options, "a.py"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "ValueError: nan" in ran.stderr


def _run_in_a_process(*options: str) -> str:
    command = [sys.executable, "-m", "graphmend", "run", *options, "a.py"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_an_unknown_trap_is_wrong_usage(graphmend, write):
    write("a.py", SAFE)
    assert graphmend("check", "--trap", "later", "a.py").code == 2
    with pytest.raises(ValueError, match="later"):
        check_source(SAFE, str(Path("a.py")), trap="later")
