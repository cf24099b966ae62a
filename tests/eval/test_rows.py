"""Whole rows on toy models: what the harness must find, each arm in a process of its own."""

from pathlib import Path

import pytest

from corpus.recipe import Recipe
from eval.cells import cells, notes
from eval.job import Job, WorkerError, run_job
from eval.row import measure

HERE = Path(__file__).resolve().parent


@pytest.fixture(autouse=True)
def toys_importable(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(HERE))


def row(builder, tmp_path, breaks):
    recipe = Recipe(builder, f"toys:{builder}", "LC", breaks, goal=0, packages=("toys",))
    return measure(recipe, tmp_path / builder)


def test_a_mend_that_changes_nothing_is_called_inert(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHMEND_DISABLE", "1")
    found = row("printing", tmp_path, breaks=1)
    assert found["mend"]["inert"] is True
    assert found["mend"]["modules"] == []
    assert found["before"]["breaks"] == found["after"]["breaks"] == 1
    assert any("INERT" in note for note in notes(found))
    assert found["equal"] and found["same_start"] and not found["failures"]
    assert found["before"]["sites"][0]["category"] == "LC"
    assert not found["before"]["fullgraph"]


def test_a_planted_wrong_result_is_found(tmp_path):
    found = row("wrong", tmp_path, breaks=0)
    assert not found["equal"]
    assert found["same_start"], "the fault lies in the calls, not in the weights"
    for arm in ("mended eager", "mended compiled"):
        verdicts = found["agreement"][arm]
        assert not verdicts["outputs"]["ok"]
        assert "call 0" in verdicts["outputs"]["difference"]
        assert verdicts["outputs"]["largest"]
        assert not verdicts["state"]["ok"]
        assert verdicts["arguments"]["equal"]
    assert not found["agreement"]["mended eager"]["records"]["ok"]
    assert "DIFFER" in cells(found)


def test_a_process_that_dies_is_reported(tmp_path):
    job = Job(
        builder="toys:broken",
        packages=("toys",),
        arm="original",
        task="eager",
        weights=str(tmp_path / "weights.pt"),
        tensors=str(tmp_path / "tensors.pt"),
        result=str(tmp_path / "result.json"),
    )
    with pytest.raises(WorkerError, match="cannot be built"):
        run_job(job, tmp_path)
