"""The mutation check: what is listed, what a test needs, what none needs, what none reaches."""

import pytest

from eval.job import ROOT
from eval.mutation_checks import Check
from eval.mutation_hook import Mutation
from eval.mutation_reach import Reach
from eval.mutation_report import holds, markdown, name
from eval.mutation_tests import DidNotRun, Runner, TookTooLong
from eval.mutations import ALLOWED, PACKAGES, Project, recorded, switch_off, write
from eval.report import read_json_lines
from eval.table2 import RESULTS

RULES = """\
from __future__ import annotations


class Refused(Exception):
    pass


def halve(number):
    if number < 0:
        raise Refused("a number below zero")
    if number % 2:
        raise Refused(f"{number} is odd")
    if number > 1000:
        raise Refused("a large number")
    if number > 100:
        raise Refused("a large number")
    return number // 2


def is_small(branch: Branch) -> str | None:
    if branch > 9:
        return "it is large" if branch < 99 else "it is very large"
    return None


def sign(number) -> str | None:
    return f"-{number}" if number else None
"""
TESTS = """\
import subprocess
import sys

import pytest

from toy.rules import Refused, halve, is_small


def test_below_zero_or_odd():
    with pytest.raises(Refused):
        halve(-1)


def test_odd_in_another_process():
    program = "from toy.rules import halve; halve(3)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 1


def test_large_numbers_are_not_small():
    assert is_small(20) is not None
    assert is_small(2) is None
"""
TOY = "toy.rules:"
RUN = {"command": "python -m eval mutations", "commit": "abc", "torch": "2.13.0"}


@pytest.fixture
def toy(tmp_path):
    for path, text in {
        "toy/__init__.py": "",
        "toy/rules.py": RULES,
        "tests/test_toy.py": TESTS,
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    return Project(tmp_path, ("toy",))


def test_checks_are_listed_by_function_and_reason(toy):
    assert [str(check) for check in toy.checks()] == [
        TOY + "halve: a number below zero",
        TOY + "halve: .. is odd",
        TOY + "halve: a large number",
        TOY + "halve: a large number (2)",
        TOY + "is_small: whole function",
    ]
    assert [check.reason for check in toy.checks(["odd", "is_small"])] == [
        ".. is odd",
        "whole function",
    ]


def test_a_needed_check_is_killed_and_a_needless_one_survives(toy, tmp_path):
    runner = Runner(toy.root)
    kept = tmp_path / "reach.json"
    reach = recorded(toy, runner, kept, False, print)
    assert Reach.load(kept) == reach
    rows = [{**switch_off(c, toy, runner, reach), "commit": "abc"} for c in toy.checks()]
    tests = "tests/test_toy.py::"
    assert [(row["outcome"], row["by"]) for row in rows] == [
        ("survived", None),  # -1 is odd, too
        ("killed", tests + "test_odd_in_another_process"),
        ("not reached", None),
        ("not reached", None),
        ("killed", tests + "test_large_numbers_are_not_small"),
    ]
    assert not holds(rows, {})
    allowed = {name(row): "for the test" for row in rows if row["outcome"] != "killed"}
    assert holds(rows, allowed)
    page = markdown(RUN, rows, {})
    assert f"- survived: {TOY}halve: a number below zero\n  - NOT ALLOWED" in page
    assert "| all | 5 | 2 | 1 | 2 | 0 |" in page


def test_what_is_recorded_follows_the_tests(toy):
    runner = Runner(toy.root)
    file = "tests/test_toy.py"
    reach = Reach()
    reach.record(file, toy.packages, runner)
    (toy.root / file).write_text(
        "from toy.rules import is_small\n\n"
        "def test_fails():\n    assert is_small(20) is None\n\n"
        "def test_passes():\n    assert is_small(20)\n"
    )
    reach.record(file, toy.packages, runner)
    assert list(reach.tests) == [f"{file}::test_passes"]
    assert reach.failing == [f"{file}::test_fails"]
    assert reach.of(TOY + "is_small: whole function") == [f"{file}::test_passes"]


def test_tests_that_do_not_end_or_do_not_load_decide_nothing(toy):
    runner = Runner(toy.root)
    file = toy.root / "tests/test_toy.py"
    file.write_text("def test_waits():\n    while True:\n        pass\n")
    with pytest.raises(TookTooLong):
        runner.run(["tests/test_toy.py"], Mutation(toy.packages, off="none"), 4)
    file.write_text("raise OSError('no such device')\n")
    with pytest.raises(DidNotRun, match="no such device"):
        runner.run(["tests/test_toy.py"], Mutation(toy.packages, off="none"), 60)


def test_a_check_of_graphmend_switched_off_fails_its_test():
    file = "tests/rewrite/test_where_refusals.py"
    test = f"{file}::test_left_alone_with_the_reason[inside an f-string]"
    check = "graphmend.rewrite.where:rewrite: it stands inside an f-string"
    runner = Runner(ROOT)
    assert [ran.passed for ran in runner.run([test], Mutation(PACKAGES), 300)] == [True]
    assert [ran.passed for ran in runner.run([test], Mutation(PACKAGES, check), 300)] == [False]


def test_the_list_has_the_checks_of_both_packages():
    checks = Project().checks()
    assert len(set(map(str, checks))) == len(checks)
    assert {check.module.rpartition(".")[0] for check in checks} == {*PACKAGES}
    assert Check("graphmend.rewrite.trap", "not_caught", "whole function") in checks


def test_what_is_allowed_exists():
    assert set(ALLOWED) <= {str(check) for check in Project().checks()}


def test_a_run_of_some_checks_keeps_the_results_of_the_others(toy, tmp_path):
    def row(check, outcome):
        key = {n: getattr(check, n) for n in ("module", "function", "reason", "number")}
        return {**key, "tests": 1, "outcome": outcome, "by": "a test", "commit": "abc"}

    checks = toy.checks()
    gone = Check("toy.rules", "gone", "a reason")
    write(tmp_path, RUN, [row(c, "survived") for c in [*checks, gone]], [*checks, gone])
    write(tmp_path, {**RUN, "commit": "def"}, [row(checks[1], "killed")], checks)
    about, rows = read_json_lines(tmp_path / "mutations.jsonl")
    assert about["commit"] == "def"
    assert [r["outcome"] for r in rows] == ["survived", "killed", *["survived"] * 3]
    assert "| toy.rules | 5 | 1 | 4 | 0 | 0 | abc |" in (tmp_path / "mutations.md").read_text()


def test_results_checked_in_hold_and_have_their_page():
    for path in RESULTS.glob("mutations.jsonl"):
        run, rows = read_json_lines(path)
        assert {"command", "date", "commit", "torch", "python", "cpu", "cores"} <= run.keys()
        assert holds(rows, ALLOWED)
        assert {name(row) for row in rows if row["outcome"] != "killed"} <= {*ALLOWED}
        assert path.with_suffix(".md").read_text(encoding="utf-8") == markdown(run, rows, ALLOWED)
