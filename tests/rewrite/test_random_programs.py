"""Random programs with guards and output behave, once mended, as they were written."""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.rewrite.programs import program
from tests.sides import Seen, assert_same, load, mended, observe


def _calls(module: types.ModuleType, wrap: Callable[[Any], Any]) -> list[Seen]:
    network, inputs = module.make()
    call = wrap(network)
    with torch.no_grad():
        return [observe(call, network, arguments) for arguments in inputs * 2]


def _compiled(module: types.ModuleType) -> list[Seen]:
    torch._dynamo.reset()
    return _calls(module, lambda network: torch.compile(network, backend="aot_eager"))


def _plain(module: types.ModuleType) -> list[Seen]:
    return _calls(module, lambda network: network)


@pytest.mark.parametrize(
    "seed", [*range(16), *(pytest.param(s, marks=pytest.mark.slow) for s in range(16, 400))]
)
def test_a_mended_program_behaves_as_it_was_written(seed: int, tmp_path: Path) -> None:
    text = program(seed)
    result = mended(text, tmp_path)
    original = _plain(load(text, tmp_path / "original.py"))
    after = tmp_path / "after.py"
    for expected, seen in zip(original, _plain(load(result.source, after)), strict=True):
        assert_same(expected, seen)
    differing = []
    for index, seen in enumerate(_compiled(load(result.source, after))):
        try:
            assert_same(original[index], seen)
        except AssertionError:
            differing.append((index, seen))
    if differing:
        # What torch.compile changes in the original too is not the mend's doing.
        known = _compiled(load(text, tmp_path / "compiled.py"))
        for index, seen in differing:
            assert_same(known[index], seen)


def test_most_sites_of_the_programs_are_mended(tmp_path: Path) -> None:
    findings = [f for seed in range(12) for f in mended(program(seed), tmp_path).findings]
    fixed = sum(f.status == "fixed" for f in findings)
    assert len(findings) > 30
    assert fixed > len(findings) // 2
