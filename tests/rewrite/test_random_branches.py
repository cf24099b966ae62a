"""Random programs that branch on tensor data behave, once mended, as they were written."""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.rewrite.branch_programs import branch_program
from tests.sides import Seen, assert_same, load, mended, observe


def _calls(module: types.ModuleType, wrap: Callable[[Any], Any], gradients: bool) -> list[Seen]:
    network, inputs = module.make()
    call = wrap(network)
    with torch.set_grad_enabled(gradients):
        return [observe(call, network, a, gradients) for a in inputs * 2]


def _compiled(module: types.ModuleType, gradients: bool) -> list[Seen]:
    torch._dynamo.reset()
    return _calls(module, lambda n: torch.compile(n, backend="aot_eager"), gradients)


@pytest.mark.parametrize(
    "seed", [*range(20), *(pytest.param(s, marks=pytest.mark.slow) for s in range(20, 600))]
)
def test_a_mended_program_behaves_as_it_was_written(seed: int, tmp_path: Path) -> None:
    text, gradients = branch_program(seed), seed % 2 == 0
    result = mended(text, tmp_path)
    original = _calls(load(text, tmp_path / "original.py"), lambda n: n, gradients)
    after = tmp_path / "after.py"
    eager = _calls(load(result.source, after), lambda n: n, gradients)
    for expected, seen in zip(original, eager, strict=True):
        assert_same(expected, seen)
    differing = []
    for index, seen in enumerate(_compiled(load(result.source, after), gradients)):
        try:
            assert_same(original[index], seen)
        except AssertionError:
            differing.append((index, seen))
    if differing:
        # What torch.compile changes in the original too is not the mend's doing.
        known = _compiled(load(text, tmp_path / "compiled.py"), gradients)
        for index, seen in differing:
            assert_same(known[index], seen)
    assert mended(result.source, tmp_path).source == result.source


def test_most_branches_of_the_programs_are_mended(tmp_path: Path) -> None:
    findings = [
        finding
        for seed in range(40)
        for finding in mended(branch_program(seed), tmp_path).findings
        if finding.code == "GM101"
    ]
    fixed = sum(finding.status == "fixed" for finding in findings)
    assert len(findings) > 100
    assert fixed > len(findings) // 2
