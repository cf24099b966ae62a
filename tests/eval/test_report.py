"""The results' form: JSON lines that can be read back, and pages that say what is wrong."""

import copy
import json

import pytest

from corpus.registry import TABLE2
from eval.__main__ import main
from eval.cells import HEADINGS, cells, notes, removed_percent
from eval.refusals import with_refusals
from eval.report import markdown, print_table, read_json_lines, write_json_lines
from eval.table2 import RESULTS

RUN = {"command": "python -m eval table2", "date": "2026-01-01 00:00 UTC", "torch": "2.13.0"}
SITE = {
    "path": "some/model.py",
    "line": 7,
    "function": "forward",
    "text": "logger.warning(",
    "category": "LC",
    "reason": "logging.Logger method",
    "count": 2,
    "refused": None,
}
COUNTS = {
    "breaks": 2,
    "sites": [SITE],
    "frames": 5,
    "frames_ok": 5,
    "graphs": 3,
    "recompiles": 1,
    "new_frames_later": 0,
    "fullgraph": False,
    "fullgraph_error": "call 0: Unsupported: logging.Logger method",
}
EQUAL = {"equal": True, "difference": None, "shared": False, "ok": True}
DIFFERENT = {"equal": False, "difference": "call 1, [0]: a, b", "shared": False, "ok": False}
ASPECTS = ("outputs", "arguments", "state", "records", "record_sites")
ARMS = ("original compiled", "mended eager", "mended compiled")
ROW = {
    "name": "toy",
    "cause": "LC 2",
    "breaks": 2,
    "goal": 0,
    "published_breaks": 2,
    "published_removed": 100,
    "before": COUNTS,
    "after": {
        **COUNTS,
        "breaks": 0,
        "sites": [],
        "frames": 1,
        "frames_ok": 1,
        "graphs": 1,
        "fullgraph": True,
        "fullgraph_error": None,
    },
    "mend": {"inert": False, "modules": ["some.model"], "error": None, "hook": None},
    "agreement": {arm: dict.fromkeys(ASPECTS, EQUAL) for arm in ARMS},
    "same_start": True,
    "equal": True,
    "failures": {},
}


def row(**changes):
    return {**copy.deepcopy(ROW), **changes}


def test_a_good_row_has_no_notes_and_all_its_figures():
    assert notes(ROW) == []
    shown = dict(zip(HEADINGS, cells(ROW), strict=True))
    assert shown["breaks"] == "2 → 0"
    assert shown["removed"] == "100%"
    assert shown["published"] == "2, 100%"
    assert shown["fullgraph"] == "no → yes"
    assert shown["outputs: compiled"] == "equal"


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"mend": {**ROW["mend"], "inert": True}}, "INERT"),
        ({"mend": {**ROW["mend"], "error": "TypeError: x"}}, "install failed: TypeError: x"),
        ({"after": COUNTS}, "no break removed"),
        ({"after": COUNTS}, "goal missed"),
        ({"after": {**ROW["after"], "fullgraph": False}}, "goal missed"),
        ({"after": {**ROW["after"], "breaks": -1}}, "skipped whole"),
        ({"before": {**COUNTS, "breaks": 3}}, "2 breaks expected before"),
        ({"same_start": False}, "did not start equal"),
        ({"failures": {"mended count": "exit 1: boom"}, "after": None}, "mended count failed"),
    ],
)
def test_what_makes_a_row_doubtful_is_noted(changes, note):
    assert any(note in text for text in notes(row(**changes)))


def test_the_share_removed_needs_two_counts():
    assert removed_percent(ROW) == 100
    assert removed_percent(row(after={**COUNTS, "breaks": 1})) == 50
    assert removed_percent(row(after=None)) is None
    assert removed_percent(row(before={**COUNTS, "breaks": 0})) is None


def test_a_difference_and_a_failure_are_spelled_out_on_the_page():
    agreement = {**ROW["agreement"], "mended eager": {**dict.fromkeys(ASPECTS, EQUAL)}}
    agreement["mended eager"]["outputs"] = {**DIFFERENT, "largest": ["call 1, [0]: up to 0.5"]}
    bad = row(agreement=agreement, equal=False, failures={"mended count": "exit 1: boom"})
    page = markdown(RUN, [ROW, {**bad, "after": None}])
    for text in ("DIFFER", "call 1, [0]: a, b", "up to 0.5", "mended count: exit 1: boom"):
        assert text in page


def test_sites_left_are_listed_with_why():
    page = markdown(RUN, [row(after=COUNTS)])
    assert "`some/model.py:7` in `forward`" in page
    assert "not reported by graphmend" in page
    hook = {"refused": [{"path": "some/model.py", "line": 7, "code": "GM204", "reason": "no"}]}
    explained = with_refusals({**COUNTS, "sites": [SITE]}, hook)
    assert "refused: GM204, no" in markdown(RUN, [row(after=explained)])
    assert "## Sites that still break\n\nNone." in markdown(RUN, [ROW])


def test_json_lines_are_read_back(tmp_path):
    write_json_lines(tmp_path / "r.jsonl", RUN, [ROW, row(after=None)])
    text = (tmp_path / "r.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["kind"] for line in lines] == ["run", "row", "row"]
    run, rows = read_json_lines(tmp_path / "r.jsonl")
    assert run == RUN
    assert rows == [ROW, row(after=None)]


def test_the_table_is_printed_with_and_without_rich(capsys, monkeypatch):
    print_table([ROW])
    assert "toy" in capsys.readouterr().out
    monkeypatch.setitem(__import__("sys").modules, "rich.console", None)
    print_table([ROW])
    out = capsys.readouterr().out
    assert out.splitlines()[0].startswith("model")
    assert "2 → 0" in out


def test_an_unknown_model_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["table2", "no-such-model"])
    assert stop.value.code == 2
    assert "no such model: no-such-model" in capsys.readouterr().err


def test_the_results_checked_in_are_rows_of_the_table_and_have_their_page():
    run, rows = read_json_lines(RESULTS / "table2.jsonl")
    assert {"command", "date", "torch", "transformers", "python", "cpu", "cores"} <= run.keys()
    names = [r["name"] for r in rows]
    assert names == [recipe.name for recipe in TABLE2 if recipe.name in names]
    assert all(r.keys() == ROW.keys() for r in rows)
    assert all(r["before"].keys() == COUNTS.keys() for r in rows)
    assert all(r["before"]["breaks"] == r["breaks"] for r in rows)
    assert all(arm in r["agreement"] for r in rows for arm in ARMS)
    assert (RESULTS / "table2.md").read_text(encoding="utf-8") == markdown(run, rows)
