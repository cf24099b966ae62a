"""Mended modules in every way users run them, against the original in the same way or eagerly."""

from __future__ import annotations

import threading
import types
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.sides import Call, assert_same, load, mended, observe

PROGRAM = """
import logging
import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

logger = logging.getLogger("ways")


class Block(nn.Module):
    def __init__(self, width, index):
        super().__init__()
        self.index = index
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        y = torch.tanh(self.fc(x)) + x
        if torch.isnan(y).any():
            raise ValueError(f"nan after block {self.index}")
        logger.info("block %d mean %.3f", self.index, y.mean().item())
        return y


class Net(nn.Module):
    def __init__(self, width=4, depth=2, save_memory=False):
        super().__init__()
        self.save_memory = save_memory
        self.blocks = nn.ModuleList(Block(width, i) for i in range(depth))

    def forward(self, x):
        if x.shape[0] == 1:
            warnings.warn("a single row")
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.save_memory else block(x)
        return x.sum(-1)
"""
DECORATED = PROGRAM.replace(
    "    def forward(self, x):\n        if x.shape",
    """\
    @torch.compile(backend="eager", fullgraph=True)
    def forward(self, x):
        if x.shape""",
)
GOOD, NAN = torch.linspace(-1, 1, 8).view(2, 4), torch.full((2, 4), float("nan"))
INPUTS = [(GOOD,), (GOOD[:1],), (NAN,), (GOOD * 3,)]


@pytest.fixture(autouse=True)
def fresh_dynamo() -> None:
    torch._dynamo.reset()


@pytest.fixture
def sides(tmp_path: Path) -> tuple[types.ModuleType, types.ModuleType]:
    """The program as it was written, and mended."""
    return load(PROGRAM, tmp_path / "original.py"), _mended(PROGRAM, tmp_path)


def _mended(text: str, folder: Path) -> types.ModuleType:
    result = mended(text, folder)
    assert [f.status for f in result.findings] == ["fixed"] * 3, result.findings
    return load(result.source, folder / "after.py")


def _net(module: types.ModuleType, **options: bool) -> nn.Module:
    torch.manual_seed(0)
    net: nn.Module = module.Net(**options)
    return net


def _same_calls(before: nn.Module, after: nn.Module, call: Call | None = None) -> None:
    for arguments in INPUTS * 2:
        expected = observe(before, before, arguments)
        assert_same(expected, observe(after if call is None else call, after, arguments))


def test_whole_graph(sides: tuple[types.ModuleType, types.ModuleType]) -> None:
    before, after = map(_net, sides)
    _same_calls(before, after, torch.compile(after, backend="aot_eager", fullgraph=True))


def test_module_compile(sides: tuple[types.ModuleType, types.ModuleType]) -> None:
    before, after = map(_net, sides)
    after.compile(backend="eager", fullgraph=True)
    _same_calls(before, after)


def test_decorated_method(tmp_path: Path) -> None:
    before = _net(load(PROGRAM, tmp_path / "original.py"))
    _same_calls(before, _net(_mended(DECORATED, tmp_path)))


def test_inductor(sides: tuple[types.ModuleType, types.ModuleType]) -> None:
    before, after = map(_net, sides)
    call = torch.compile(after, fullgraph=True)
    with torch.no_grad():
        for arguments in INPUTS:
            expected, seen = observe(before, before, arguments), observe(call, after, arguments)
            # Inductor itself warns of what it imports.
            warned = [w for w in seen.warned if "torch" not in w[1]]
            assert (expected.error, expected.records) == (seen.error, seen.records)
            assert expected.warned == warned
            if expected.error is None:
                torch.testing.assert_close(expected.value, seen.value)


@pytest.mark.semantics("D8", "legal")
def test_worker_threads(sides: tuple[types.ModuleType, types.ModuleType]) -> None:
    before, after = map(_net, sides)
    call = torch.compile(after, backend="eager", fullgraph=True)
    expected = [before(*INPUTS[0]), str(pytest.raises(ValueError, before, NAN).value)]
    found: list[list[object]] = []

    def work() -> None:
        error = pytest.raises(ValueError, call, NAN).value
        found.append([call(*INPUTS[0]), str(error)])

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    for value, message in found:
        assert torch.equal(value, expected[0])  # type: ignore[arg-type]
        assert message == expected[1]


@pytest.mark.parametrize("save_memory", [False, True], ids=["plain", "checkpointed"])
@pytest.mark.parametrize("backend", [None, "eager", "aot_eager"])
def test_training(
    sides: tuple[types.ModuleType, types.ModuleType], backend: str | None, save_memory: bool
) -> None:
    runs = []
    for module, compiled in zip(sides, (False, backend is not None), strict=True):
        net = _net(module, save_memory=save_memory)
        call = torch.compile(net, backend=backend) if compiled and backend else net
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = call(GOOD).pow(2).mean()
            loss.backward()
            losses.append([loss.detach(), *(p.grad.clone() for p in net.parameters())])
            optimizer.step()
        runs.append(losses)
    for before, after in zip(*runs, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))


def test_ahead_of_time_compilation(sides: tuple[types.ModuleType, types.ModuleType]) -> None:
    before, after = map(_net, sides)
    call = torch.compile(after.forward, backend="eager", fullgraph=True)
    ready = call.aot_compile(((GOOD,), {}))
    assert torch.equal(ready(after, GOOD), before(GOOD))
    assert str(pytest.raises(ValueError, ready, after, NAN).value) == "nan after block 0"


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.semantics("X1", "legal")
def test_export_keeps_what_worked(tmp_path: Path, strict: bool) -> None:
    text = PROGRAM.replace("        if torch.isnan(y).any():\n", "").replace(
        '            raise ValueError(f"nan after block {self.index}")\n', ""
    )
    before = _net(load(text, tmp_path / "original.py"))
    result = mended(text, tmp_path)
    assert result.source != text
    after = _net(load(result.source, tmp_path / "after.py"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = [torch.export.export(n, (GOOD,), strict=strict) for n in (before, after)]
    first, second = (e.module()(GOOD) for e in exported)
    assert torch.equal(first, second)
