"""Every line of what a mended program must keep has its tests, and the table lists them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.semantics.evidence import Evidence
from tests.semantics.lines import Line, named
from tests.semantics.table import problems, render

_LINES = [
    Line("A1", "One.", frozenset({"legal", "refused"})),
    Line("A2", "Two.", frozenset({"legal"})),
]
_COMPLETE = [
    Evidence("A1", "legal", "tests/test_a.py::test_one"),
    Evidence("A1", "refused", "tests/test_a.py::test_two"),
    Evidence("A2", "legal", "tests/test_a.py::test_one"),
]


def test_the_table_of_this_checkout_is_complete_and_up_to_date() -> None:
    command = [sys.executable, "-m", "tests.semantics", "--check"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("evidence", "says"),
    [
        (_COMPLETE, []),
        (_COMPLETE[:2], ["A2 has no legal test"]),
        (_COMPLETE[1:], ["A1 has no legal test"]),
        (_COMPLETE[::2], ["A1 has no refused test"]),
        ([*_COMPLETE, Evidence("A3", "legal", "t")], ["t: no line A3"]),
        ([*_COMPLETE, Evidence("A2", "kept", "t")], ["t: kept is none of ('legal', 'refused')"]),
    ],
)
def test_what_is_missing_is_said(evidence: list[Evidence], says: list[str]) -> None:
    assert problems(_LINES, evidence) == says


def test_the_table_lists_the_tests_of_a_line() -> None:
    _, one, two = render(_LINES, _COMPLETE).split("\n## ")
    tests = "- legal: `test_a.py::test_one`\n- refused: `test_a.py::test_two`\n"
    assert one == "A1\n\nOne.\n\n" + tests
    assert two == "A2\n\nTwo.\n\n- legal: `test_a.py::test_one`\n"


def test_names_of_parameters_mark_them() -> None:
    plain, marked = named(["no line (here)", "two (W1, P2), and one (T3)"], "refused")
    assert not plain.marks
    assert [mark.args for mark in marked.marks] == [(x, "refused") for x in ("W1", "P2", "T3")]


def test_marks_of_functions_and_of_parameters_are_found(tmp_path: Path) -> None:
    path = tmp_path / "test_marked.py"
    path.write_text(
        "import pytest\n"
        "@pytest.mark.semantics('A1', 'legal')\n"
        "@pytest.mark.parametrize('x', [1, pytest.param(2, marks="
        "pytest.mark.semantics('A2', 'legal'))])\n"
        "def test_it(x): ...\n"
        "@pytest.mark.slow\n"
        "@pytest.mark.semantics('A3', 'legal')\n"
        "def test_not_in_ci(): ...\n"
    )
    code = (
        "import sys, pathlib; from tests.semantics.evidence import collect\n"
        "for e in collect([pathlib.Path(sys.argv[1])]): print(e.line, e.test.split('::')[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == ["A1 test_it", "A2 test_it[2]"], done.stderr
