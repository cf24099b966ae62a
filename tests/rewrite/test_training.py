"""A model with mended branches, guards and prints trains as the original does, step for step.

Losses and gradients are compared bit for bit with the original run eagerly. A parameter whose
branch is not taken has no gradient at all, and the side that is not taken must not spoil the
gradients of the one that is.
"""

from __future__ import annotations

import contextlib
import io
import types
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from tests.sides import load, mended

PROGRAM = """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Layer(nn.Module):
    def __init__(self, width, index):
        super().__init__()
        self.index = index
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.rare = nn.Linear(width, width)

    def attend(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        weights = (q @ k.transpose(-1, -2) * 0.5).softmax(-1)
        if torch.isnan(weights).any():
            raise ValueError(f"layer {self.index} has no weights")
        return self.out(weights @ v)

    def forward(self, x):
        h = self.attend(x)
        if h.dtype == torch.bfloat16 and (torch.isinf(h).any() or torch.isnan(h).any()):
            h = torch.clamp(h, min=-1e38, max=1e38)
        h = h + x
        if h.abs().max() > 3:
            h = h.clamp(-3.0, 3.0)
        peak = h.amax(-1, keepdim=True)
        if (peak > 0).all():
            h = h / peak.sqrt() + peak.log()
        if h.sum() < -2:
            h = h + self.rare(h)
        return h


class Net(nn.Module):
    def __init__(self, width=4, saving=False):
        super().__init__()
        self.saving = saving
        self.layers = nn.ModuleList(Layer(width, i) for i in range(2))
        self.head = nn.Linear(width, width)

    def score(self, x, y):
        distance = (x - y).pow(2)
        if distance.max() < 6:
            return distance.mean()
        worst = distance.max() if distance.mean() > 1.5 else distance.amin()
        scale = 2.0 if distance.max() > 9 else 1.0
        loss = (distance.mean() + worst * 0.25) / scale
        return loss

    def forward(self, x, y):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.saving else layer(x)
        loss = self.score(self.head(x).float(), y)
        print(f"loss {loss.item():.4f}")
        return loss
"""
# TorchDynamo hides this one after a graph break, but not where warnings are errors.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")

# Sizes of the inputs, step for step: each branch is taken in some steps and not in others.
SIZES = (1.0, 4.0, 0.2, -1.0, -3.0)


@dataclass
class Step:
    """What one training step gave."""

    loss: torch.Tensor
    gradients: list[torch.Tensor | None]
    output: str


@pytest.fixture(autouse=True)
def fresh_dynamo() -> None:
    torch._dynamo.reset()


@pytest.fixture
def sides(tmp_path: Path) -> tuple[types.ModuleType, types.ModuleType]:
    """The program as it was written, and mended."""
    result = mended(PROGRAM, tmp_path)
    assert all(f.status == "fixed" for f in result.findings), result.findings
    assert sorted(f.code for f in result.findings) == ["GM101"] * 7 + ["GM201", "GM301"]
    return load(PROGRAM, tmp_path / "original.py"), load(result.source, tmp_path / "after.py")


def _train(
    module: types.ModuleType, autocast: bool, saving: bool, backend: str | None
) -> list[Step]:
    """Five steps of a new model, compiled where a backend is named."""
    torch.manual_seed(0)
    net = module.Net(saving=saving)
    call = net if backend is None else torch.compile(net, backend=backend)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    steps = []
    for size in SIZES:
        x, y = _inputs(size)
        optimizer.zero_grad()
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                loss = call(x, y)
            loss.backward()
        gradients = [None if p.grad is None else p.grad.clone() for p in net.parameters()]
        steps.append(Step(loss.detach(), gradients, output.getvalue()))
        optimizer.step()
    return steps


def _inputs(size: float) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.linspace(-1, 1, 24).cos().view(2, 3, 4) * size, torch.randn(2, 3, 4)


def _same(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    """Bit for bit; a NaN is the same as a NaN, and no gradient only as no gradient."""
    if one is None or other is None:
        return one is other
    nan = one.isnan()
    same_type = one.dtype == other.dtype and one.shape == other.shape
    return same_type and torch.equal(nan, other.isnan()) and torch.equal(one[~nan], other[~nan])


@pytest.mark.parametrize("saving", [False, True], ids=["plain", "checkpointed"])
@pytest.mark.parametrize("autocast", [False, True], ids=["float32", "autocast"])
@pytest.mark.parametrize("backend", [None, "eager", "aot_eager"])
@pytest.mark.semantics("D11", "legal")
@pytest.mark.semantics("W4", "legal")
@pytest.mark.semantics("W13", "refused")
def test_losses_gradients_and_output_are_those_of_the_original(
    sides: tuple[types.ModuleType, types.ModuleType],
    backend: str | None,
    autocast: bool,
    saving: bool,
) -> None:
    original, after = sides
    expected = _train(original, autocast, saving, None)
    found = _train(after, autocast, saving, backend)
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        assert _same(one.loss, other.loss), number
        assert one.output == other.output, number
        pairs = zip(one.gradients, other.gradients, strict=True)
        assert all(_same(a, b) for a, b in pairs), number


@pytest.mark.parametrize("autocast", [False, True], ids=["float32", "autocast"])
def test_without_gradients_all_branches_are_in_one_graph(
    sides: tuple[types.ModuleType, types.ModuleType], autocast: bool
) -> None:
    found = []
    for module, compiled in zip(sides, (False, True), strict=True):
        torch.manual_seed(0)
        net = module.Net().eval()
        call = torch.compile(net, backend="aot_eager", fullgraph=True) if compiled else net
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            found.append([call(*_inputs(size)) for size in SIZES])
    assert all(map(_same, *found))


def test_the_steps_take_and_leave_the_branch_with_parameters(
    sides: tuple[types.ModuleType, types.ModuleType],
) -> None:
    """Else the comparison of gradients would say less than it seems to."""
    missing = [sum(g is None for g in s.gradients) for s in _train(sides[0], False, False, None)]
    assert 0 in missing and max(missing) > 0
