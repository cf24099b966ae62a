"""Every model of the registry and every pattern program is what it is said to be."""

import contextlib
import importlib
import io
import warnings

import pytest
import torch

from corpus.programs import FOLDER, VERDICTS, programs
from corpus.recipe import build
from corpus.registry import TABLE2, recipe
from graphmend.verification.fingerprint import fingerprint, model_state

# The others are built where `eval.environment` has installed what they are made of.
HERE = [row for row in TABLE2 if row.requires == ("transformers==4.52.4",)]


@pytest.mark.parametrize("row", HERE, ids=lambda row: row.name)
def test_a_model_is_built_the_same_every_time(row):
    one, two = build(row.builder), build(row.builder)
    assert len(one.calls) >= 3
    assert fingerprint(one.calls) == fingerprint(two.calls)
    assert len({str(fingerprint(call)) for call in one.calls}) == len(one.calls)
    assert not one.model.training
    assert model_state(one.model) == model_state(two.model)


def test_names_are_unique_and_published_figures_are_whole():
    assert len({row.name for row in TABLE2}) == len(TABLE2)
    assert recipe("t5").published_breaks == 3
    assert all((r.published_breaks is None) == (r.published_removed is None) for r in TABLE2)
    with pytest.raises(KeyError):
        recipe("no such model")


def test_what_a_constructor_leaves_uninitialised_is_seeded(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER.parent.parent / "tests" / "eval"))
    one, two = build("toys:unseeded").model, build("toys:unseeded").model
    assert torch.isfinite(one.weight).all() and torch.isfinite(one.scale).all()
    assert model_state(one) == model_state(two)
    assert not torch.are_deterministic_algorithms_enabled()


def test_the_table_of_patterns_and_the_folder_agree():
    helpers = {"report_helpers"}
    assert {p.name for p in programs()} == {f.stem for f in FOLDER.glob("*.py")} - helpers
    assert {p.verdict for p in programs()} == set(VERDICTS)
    assert {p.category for p in programs()} == {"DC", "DS", "LC", "OTHER", "TI", "VG"}


@pytest.mark.parametrize("program", programs(), ids=lambda program: program.name)
def test_a_pattern_breaks_as_often_as_it_is_said_to(program, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    assert graphs(importlib.import_module(program.name)) == program.graphs


def graphs(module):
    """Graphs handed to the backend an input; what an input raises is its own business."""
    count = 0

    def backend(graph, inputs):
        nonlocal count
        count += 1
        return graph.forward

    function, inputs = module.make()
    found = []
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for arguments in inputs:
            torch._dynamo.reset()
            count = 0
            with contextlib.suppress(Exception):
                torch.compile(function, backend=backend)(*arguments)
            found.append(count)
    torch._dynamo.reset()
    return tuple(found)
