"""`graphmend selftest`: what it says of this torch, of a wrong mend, and where it cannot run."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from graphmend import cases as catalogue
from graphmend.catalogue import rules
from graphmend.selftest import run, trial


def _only(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    chosen = [case for case in catalogue.cases() if case.name in names]
    assert len(chosen) == len(names)
    monkeypatch.setattr(run, "cases", lambda: chosen)


def _process(program: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], cwd=cwd, text=True, capture_output=True, check=False
    )


def test_every_case_is_as_promised_under_this_torch(tmp_path):
    program = "import sys; sys.argv[1:] = ['selftest', '--format', 'json']\n"
    ran = _process(program + "from graphmend.cli import main; main()", tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    found = json.loads(ran.stdout)
    assert found["ok"] and found["runtime"]["works"]
    assert {case["code"] for case in found["cases"]} == {rule.code for rule in rules()}
    mended = {case["code"] for case in found["cases"] if case["mended_to_one_graph"]}
    assert mended == {rule.code for rule in rules() if rule.grade is not None}
    by_itself = {case["code"] for case in found["cases"] if case["captured_by_torch"]}
    assert "GM501" in by_itself and "GM101" not in by_itself
    assert list(tmp_path.iterdir()) == []


def test_the_table_counts_by_rule(graphmend, monkeypatch):
    _only(monkeypatch, "fixed_torch_check", "refused_item_and_float")
    ran = graphmend("selftest")
    assert (ran.code, ran.err) == (0, "")
    rows = [line.split("  ") for line in ran.out.splitlines() if line.startswith("GM")]
    assert [[cell.strip() for cell in row if cell.strip()] for row in rows] == [
        ["GM303", "check-helper-call", "1 of 1", "0 of 1", "1 of 1"],
        ["GM501", "tensor-to-scalar", "1 of 1", "1 of 1", "-"],
    ]
    assert ran.out.endswith("every case is as promised\n")


def test_a_text_that_is_not_the_promised_one_is_reported(graphmend, monkeypatch):
    _only(monkeypatch, "fixed_helper_in_the_project")
    _mend_wrongly(monkeypatch, "x.log()", "x.exp()")
    ran = graphmend("selftest")
    said = "GM303 fixed_helper_in_the_project: another text than the case says"
    assert ran.code == 1 and said in ran.out


@pytest.mark.parametrize(
    "kept, changed, said",
    [
        ("return x.log()", "return x.log() + 1", "eagerly, outputs: call 0"),
        ("raise ValueError", "raise IndexError", "eagerly, exception: call 1"),
        ("return x.log()", "return x.log() if x.sum() > 0 else x", "the graph breaks"),
    ],
)
def test_a_wrong_mend_is_reported(graphmend, monkeypatch, kept, changed, said):
    wrong = next(c for c in catalogue.cases() if c.name == "fixed_helper_in_the_project")
    monkeypatch.setattr(
        run, "cases", lambda: [replace(wrong, after=wrong.after.replace(kept, changed))]
    )
    _mend_wrongly(monkeypatch, kept, changed)
    ran = graphmend("selftest")
    assert ran.code == 1
    assert f"GM303 fixed_helper_in_the_project: {said}" in ran.out


def _mend_wrongly(monkeypatch: pytest.MonkeyPatch, kept: str, changed: str) -> None:
    def wrong(*args, **kwargs):
        result = fix(*args, **kwargs)
        return replace(result, source=result.source.replace(kept, changed))

    fix = trial.fix_source
    monkeypatch.setattr(trial, "fix_source", wrong)


def test_where_the_runtime_is_off_the_mended_program_still_agrees(tmp_path):
    ran = _process(
        """
import sys

import torch._dynamo.side_effects

from graphmend import cases
from graphmend.cli import main
from graphmend.selftest import run

del torch._dynamo.side_effects.SideEffects.mutation
names = ("fixed_torch_check", "fixed_without_message")
chosen = [case for case in cases.cases() if case.name in names]
run.cases = lambda: chosen
sys.argv[1:] = ["selftest", "--format", "json"]
main()
""",
        tmp_path,
    )
    assert ran.returncode == 1, ran.stderr
    found = json.loads(ran.stdout)
    assert not found["ok"] and not found["runtime"]["works"]
    assert "needed for: writes of a side of a selection" in found["runtime"]["detail"]
    asserts, checks = found["cases"]
    assert asserts["ok"] and asserts["mended_to_one_graph"]  # by torch itself
    assert checks["as_written"] and not checks["mended_to_one_graph"]
    assert checks["problem"].startswith("the graph breaks: ")


def test_without_torch_it_says_so(graphmend, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    ran = graphmend("selftest")
    assert (ran.code, ran.out) == (2, "")
    assert "torch, which is not installed" in ran.err
