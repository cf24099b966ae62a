"""Random programs whose guards became asserts in the graph behave as they were written."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import pytest
import torch

from graphmend.api import fix_source
from graphmend.findings import Result
from tests.rewrite.async_programs import program
from tests.sides import Seen, assert_same, load, observe

pytestmark = pytest.mark.usefixtures("imported_compiler")

SEEDS = [*range(12), *(pytest.param(s, marks=pytest.mark.slow) for s in range(12, 300))]


def fixed(text: str, folder: Path, **options: Any) -> Result:
    path = folder / "program.py"
    path.write_text(text)
    return fix_source(text, str(path), trap="async", **options)


def calls(module: types.ModuleType, backend: str | None = None) -> list[Seen]:
    torch._dynamo.reset()
    network, inputs = module.make()
    call = network if backend is None else torch.compile(network, backend=backend)
    with torch.no_grad():
        return [observe(call, network, arguments) for arguments in inputs * 2]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_mended_program_behaves_as_it_was_written(seed: int, tmp_path: Path) -> None:
    text = program(seed)
    mended = load(fixed(text, tmp_path).source, tmp_path / "mended.py")
    original = calls(load(text, tmp_path / "original.py"))
    for expected, seen in zip(original, calls(mended), strict=True):
        assert_same(expected, seen)
    differing = []
    for index, seen in enumerate(calls(mended, "aot_eager")):
        try:
            assert_same(original[index], seen)
        except AssertionError:
            differing.append((index, seen))
    if differing:
        # What torch.compile changes in the original too is not the mend's doing.
        known = calls(load(text, tmp_path / "compiled.py"), "aot_eager")
        for index, seen in differing:
            assert_same(known[index], seen)


@pytest.mark.parametrize("seed", SEEDS)
def test_plain_asserts_change_nothing_eagerly(seed: int, tmp_path: Path) -> None:
    text = program(seed)
    mended = fixed(text, tmp_path, plain=True, unsafe=True).source
    assert "graphmend" not in mended
    shown = calls(load(mended, tmp_path / "mended.py"))
    for expected, seen in zip(calls(load(text, tmp_path / "original.py")), shown, strict=True):
        assert_same(expected, seen)


@pytest.mark.parametrize("options", [{}, {"plain": True, "unsafe": True}], ids=["", "plain"])
def test_many_guards_of_the_programs_become_asserts(
    options: dict[str, bool], tmp_path: Path
) -> None:
    findings = [f for seed in range(8) for f in fixed(program(seed), tmp_path, **options).findings]
    guards = [f for f in findings if f.code.startswith("GM3")]
    assert sum(f.status == "fixed" for f in guards) > len(guards) // 3
