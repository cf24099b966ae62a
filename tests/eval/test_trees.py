"""Mending whole trees: what is lost, broken or not settled is noticed, and the page says so."""

import sys

import pytest

from eval.__main__ import main
from eval.report import read_json_lines
from eval.table2 import RESULTS
from eval.tree_fix import FIX, by_code, by_reason
from eval.tree_imports import import_failures, module_name
from eval.tree_report import markdown, summary
from eval.tree_sources import LIBRARIES, Tree
from eval.trees import imports, mend, new_failures

MODEL = """\
import logging

from torch import nn

logger = logging.getLogger(__name__)


class Model(nn.Module):
    def forward(self, x):
        # the reader's note
        logger.warning("running")
        return x + 1
"""
RUN = {"command": "python -m eval trees toy", "date": "2026-01-01 00:00 UTC", "torch": "2.13.0"}
NOTHING = {"crashes": [], "do not compile": [], "lost comments": [], "changed by a second fix": []}


@pytest.fixture
def tree(tmp_path):
    site = tmp_path / "site-packages"
    package = site / "toy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "model.py").write_text(MODEL)
    return Tree(site, package, tmp_path / "needs")


def broken(tree, body):
    """A fix command that does `body` to the text of model.py and reports nothing."""
    program = tree.site / "broken_fix.py"
    program.write_text(
        "import pathlib, sys\n"
        "path = pathlib.Path('toy/model.py')\n"
        "text = path.read_text()\n"
        f"{body}\n"
        "path.write_text(text)\n"
        'print(\'{"findings": [], "errors": []}\')\n'
    )
    return [sys.executable, str(program)]


def test_a_mended_tree_has_no_problems_and_its_figures(tree):
    row = mend(tree, FIX)
    assert row["problems"] == NOTHING
    assert row["files"] == 2
    assert row["files_mended"] == ["model.py"]
    assert row["codes"] == {"GM202": {"sites": 1, "mended": 1, "unsafe": 0, "refused": 0}}
    assert row["status"] == 0
    assert "deferred_effect" in (tree.package / "model.py").read_text()


def test_a_tree_with_nothing_to_mend_is_left(tree):
    (tree.package / "model.py").write_text("x = 1\n")
    row = mend(tree, FIX)
    assert row["files_mended"] == []
    assert row["codes"] == {}
    assert row["problems"] == NOTHING


@pytest.mark.parametrize(
    ("body", "problem", "text"),
    [
        ("text = text.replace('# the', 'pass  #')", "lost comments", "# the reader's note"),
        ("text += 'def f(:\\n'", "do not compile", "model.py: "),
        ("text += 'x = 1\\n'", "changed by a second fix", "model.py"),
        ("text += 'x = 1\\n'; raise KeyError(text)", "crashes", "KeyError"),
    ],
)
def test_what_goes_wrong_is_noticed(tree, body, problem, text):
    found = mend(tree, broken(tree, body))["problems"]
    assert any(text in line for line in found[problem])


def test_a_comment_that_occurs_once_less_is_lost(tree):
    (tree.package / "model.py").write_text("# twice\nx = 1\n# twice\n")
    row = mend(tree, broken(tree, "text = text.replace('# twice\\nx', 'x')"))
    assert row["problems"]["lost comments"] == ["model.py: # twice"]


def test_an_error_inside_graphmend_is_a_crash_and_a_file_that_is_not_python_is_not(tree):
    (tree.package / "odd.py").write_text("def f(:\n")
    row = mend(tree, FIX)
    assert row["status"] == 2
    assert len(row["errors"]) == 1 and "odd.py" in row["errors"][0]
    assert row["problems"] == NOTHING
    said = '{"findings": [], "errors": [{"path": "a.py", "message": "internal error, x"}]}'
    program = [sys.executable, "-c", f"print({said!r})"]
    assert mend(tree, program)["problems"]["crashes"] == ["a.py: internal error, x"]


def test_a_module_that_stops_importing_is_noticed(tree, tmp_path):
    (tree.package / "optional.py").write_text("import no_such_module\n")
    after = tree.copy(tmp_path / "mended")
    (after.package / "model.py").write_text("raise RuntimeError('after mending')\n")
    found = imports(tree, after, ["toy.model", "toy.optional"])
    assert (found["failed_before"], found["failed_after"]) == (1, 2)
    assert found["new"] == ["toy.model: RuntimeError: after mending"]


def test_a_process_that_dies_fails_every_module(tree):
    (tree.package / "model.py").write_text("import os\nos._exit(3)\n")
    assert import_failures(tree, ["toy.model"]) == dict.fromkeys(["toy", "toy.model"], "exit 3")


def test_another_failure_than_before_is_new():
    assert new_failures({"a": "x", "b": "y"}, {"a": "x", "b": "z"}) == ["b: z"]


def test_files_become_modules():
    assert module_name("toy", "a/b.py") == "toy.a.b"
    assert module_name("toy", "a/__init__.py") == "toy.a"
    assert module_name("toy", "__init__.py") == "toy"


def test_findings_are_counted_by_rule_and_reason():
    def finding(status, reason=None, grade=None):
        return {"code": "GM101", "status": status, "reason": reason, "grade": grade}

    found = [
        finding("fixed", grade="safe"),
        finding("refused", "assumes that `x` is", grade="unsafe"),
        finding("refused", "`x` on line 3 is written"),
        finding("refused", "`y.z` on line 45 is written"),
    ]
    assert by_code(found) == {"GM101": {"sites": 4, "mended": 1, "unsafe": 1, "refused": 2}}
    assert by_reason(found) == {"GM101: `..` on line N is written": 2}


def row_of(tree, **changes):
    row = mend(tree, FIX)
    known = {
        "modules": 1,
        "failed_before": 1,
        "failed_after": 1,
        "failures_before": {"toy": "ImportError: no torchvision"},
        "new": [],
    }
    named = {"name": "toy", "distribution": "toy", "version": "1.0", "remark": "is a toy"}
    row["problems"]["imports"] = []
    return {**named, **row, "imports": known, "holds": True, **changes}


def test_the_page_says_what_was_mended_and_what_does_not_hold(tree):
    good = row_of(tree)
    page = markdown(RUN, [good])
    for text in ("| toy | 1.0 | 2 | 1 | 1 | 1 | 0 | 0 |", "1 of 1", "toy is a toy.", "None."):
        assert text in page
    assert "1 before and after: ImportError: no torchvision" in page
    assert "holds yes" in summary(good)
    bad = {**good, "holds": False, "problems": {**NOTHING, "crashes": ["a.py: boom"]}}
    assert "- toy, crashes: a.py: boom" in markdown(RUN, [bad])
    assert "holds NO" in summary(bad)


def test_an_unknown_library_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["trees", "no-such-library"])
    assert stop.value.code == 2
    assert "no such library: no-such-library" in capsys.readouterr().err


def test_results_checked_in_have_every_library_and_their_page():
    for path in RESULTS.glob("trees.jsonl"):
        run, rows = read_json_lines(path)
        assert {"command", "date", "commit", "torch", "python", "cpu", "cores"} <= run.keys()
        assert [row["name"] for row in rows] == [library.name for library in LIBRARIES]
        assert all(row["holds"] for row in rows)
        assert path.with_suffix(".md").read_text(encoding="utf-8") == markdown(run, rows)
