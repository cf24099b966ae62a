"""Guards on sizes that are tensor data: what follows one fails while it is traced where it fails.

The original exception comes out all the same, and the compiled callable stays good for the calls
before and after.
"""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

import pytest
import torch

import graphmend
from tests.sides import Call, Seen, assert_same, load, mended, observe

PROGRAM = """
import torch
from torch import nn

SIZES = [(2, 3), (1, 4)]


class Attention(nn.Module):
    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, width)
        self.score = nn.Linear(width, heads)

    def forward(self, queries, memory, shapes, sizes):
        batch, length, width = memory.shape
        if (shapes[:, 0] * shapes[:, 1]).sum() != length:
            raise ValueError(f"{length} positions do not fit the shapes {shapes.tolist()}")
        value = self.project(memory)
        return self.attend(queries, value, sizes)

    def attend(self, queries, value, sizes):
        batch, length, width = value.shape
        value = value.view(batch, length, self.heads, width // self.heads)
        weights = self.score(queries).softmax(1).transpose(1, 2)
        if weights.size() != (batch, self.heads, queries.shape[1]):
            raise ValueError(f"weights should not be of size {weights.size()}")
        levels = value.split([height * width for height, width in sizes], dim=1)
        maps = [
            level.permute(0, 2, 3, 1).reshape(batch, self.heads, -1, height, width)
            for level, (height, width) in zip(levels, sizes)
        ]
        return sum(m.mean((-2, -1)) for m in maps) * weights.sum(-1, keepdim=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.attention = Attention()

    def forward(self, queries, memory, shapes, sizes):
        self.calls += 1
        return self.attention(queries, memory * 2, shapes, sizes)


def make():
    torch.manual_seed(0)
    return Net(), [(torch.randn(2, 5, 8), torch.randn(2, n, 8)) for n in (10, 12, 7)]
"""
SPLIT = "        levels = value.split([height * width for height, width in sizes], dim=1)\n"
FOLLOWED_BY = {
    "a view with the sizes that were checked": """\
        value.view(2, 10, -1)
        levels = value.split([6, value.shape[1] - 6], dim=1)
""",
    "a product of the sizes": """\
        levels = value.split([6, value.shape[1] - 6], dim=1)
        weights = weights + (value.sum((2, 3)) @ torch.ones(10, 5))[:, None]
""",
    "a write in place": """\
        value = value * 1
        value += torch.ones(2, 10, 2, 4)
        levels = value.split([6, value.shape[1] - 6], dim=1)
""",
}
# What fails here is Python code, which is traced and never in the graph.
FOLLOWED_BY_PYTHON = {
    "another guard": """\
        if sum(height * width for height, width in sizes) != length:
            raise KeyError("too late")
"""
    + SPLIT,
    "an assert": "        assert length == 10, 'too late'\n" + SPLIT,
    "an unpacking": """\
        _, _ = value.split(5, dim=1)
        levels = value.split([6, value.shape[1] - 6], dim=1)
""",
    "an index": "        value = value * {10: 1.0}[length]\n" + SPLIT,
}
# Positions in the inputs: the first fits, the others do not.
GOOD_FIRST, BAD_FIRST = (0, 1, 0, 2, 0), (1, 0, 2, 0)


@pytest.fixture(autouse=True)
def fresh_dynamo() -> None:
    torch._dynamo.reset()


def _sides(text: str, folder: Path) -> tuple[types.ModuleType, types.ModuleType]:
    result = mended(text, folder)
    assert [(f.code, f.status) for f in result.findings] == [("GM301", "fixed")]
    return load(text, folder / "original.py"), load(result.source, folder / "after.py")


def _calls(module: types.ModuleType, order: tuple[int, ...], **options: object) -> list[Seen]:
    """What the calls of a new model showed; compiled where there are options."""
    net, inputs = module.make()
    call: Call = torch.compile(net, **options) if options else net
    shapes = torch.tensor(module.SIZES)
    return [observe(call, net, (*inputs[i], shapes, module.SIZES), True) for i in order]


def _assert_alike(
    sides: tuple[types.ModuleType, types.ModuleType],
    order: tuple[int, ...] = BAD_FIRST,
    **options: object,
) -> None:
    expected, found = _calls(sides[0], order), _calls(sides[1], order, **options)
    for before, after in zip(expected, found, strict=True):
        assert_same(before, after)
    assert [s.error is not None for s in expected] == [i > 0 for i in order]


def test_the_original_exception_comes_out_eagerly(tmp_path: Path) -> None:
    _assert_alike(_sides(PROGRAM, tmp_path))


@pytest.mark.parametrize(
    ("backend", "fullgraph", "order"),
    [
        ("eager", False, GOOD_FIRST),
        ("eager", True, GOOD_FIRST),
        ("eager", True, BAD_FIRST),
        ("aot_eager", False, BAD_FIRST),
        ("aot_eager", True, BAD_FIRST),
    ],
)
@pytest.mark.semantics("T6", "legal")
def test_the_original_exception_comes_out_compiled(
    tmp_path: Path, backend: str, fullgraph: bool, order: tuple[int, ...]
) -> None:
    _assert_alike(_sides(PROGRAM, tmp_path), order, backend=backend, fullgraph=fullgraph)


def test_sizes_are_dynamic(tmp_path: Path) -> None:
    _assert_alike(_sides(PROGRAM, tmp_path), backend="eager", fullgraph=True, dynamic=True)


@pytest.mark.parametrize("followed", FOLLOWED_BY.values(), ids=FOLLOWED_BY)
@pytest.mark.semantics("T6", "legal")
def test_any_operator_on_the_sizes_may_follow(tmp_path: Path, followed: str) -> None:
    sides = _sides(PROGRAM.replace(SPLIT, followed), tmp_path)
    _assert_alike(sides, backend="eager", fullgraph=True)


@pytest.mark.parametrize("followed", FOLLOWED_BY_PYTHON.values(), ids=FOLLOWED_BY_PYTHON)
@pytest.mark.semantics("T6", "legal")
def test_python_code_that_fails_on_the_sizes_may_follow(tmp_path: Path, followed: str) -> None:
    _assert_alike(_sides(PROGRAM.replace(SPLIT, followed), tmp_path), backend="eager")


def test_what_follows_may_stand_in_a_block(tmp_path: Path) -> None:
    block = "        with torch.autocast('cpu', torch.bfloat16):\n            return self.attend("
    text = PROGRAM.replace("        return self.attend(", block)
    _assert_alike(_sides(text, tmp_path), backend="eager")


@pytest.mark.parametrize("fullgraph", [False, True])
@pytest.mark.semantics("T6", "legal")
def test_a_failing_operator_still_fails_where_the_guard_lets_it(
    tmp_path: Path, fullgraph: bool
) -> None:
    """Sizes that the guard does not look at: the operator's own error, as from the original."""
    program = _sides(PROGRAM, tmp_path)[1]
    net, inputs = program.make()
    compiled = torch.compile(net, backend="eager", fullgraph=fullgraph)
    for sizes in (program.SIZES, [(2, 3), (1, 3)], program.SIZES):
        seen = observe(compiled, net, (*inputs[0], torch.tensor(program.SIZES), sizes))
        assert (seen.error is None) == (sizes is program.SIZES)
        if seen.error is not None:
            assert "split" in seen.error[1].lower()


def test_a_guard_on_static_sizes_stays(tmp_path: Path) -> None:
    text = PROGRAM.replace("queries.shape[1]):", "queries.shape[1] + 1):")
    before, after = _sides(text, tmp_path)
    expected, found = _calls(before, (0, 1)), _calls(after, (0, 1), backend="eager")
    for a, b in zip(expected, found, strict=True):
        assert_same(a, b)
    texts = [seen.error[1] for seen in found if seen.error is not None]
    assert [text.split()[0] for text in texts] == ["weights", "12"]


def test_the_guard_of_a_real_model(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "transformers.models.grounding_dino.modeling_grounding_dino"
    monkeypatch.setitem(sys.modules, name, types.ModuleType(name))  # what was there comes back
    del sys.modules[name]
    with graphmend.install([name]):
        module = importlib.import_module(name)
    config = module.GroundingDinoConfig(d_model=16, num_feature_levels=2)
    layer = module.GroundingDinoMultiscaleDeformableAttention(config, num_heads=2, n_points=2)
    compiled = torch.compile(layer, backend="eager", fullgraph=True)
    sizes, queries, points = [(2, 3), (1, 4)], torch.randn(1, 5, 16), torch.rand(1, 5, 2, 2)
    for length in (12, 10, 9, 10):
        memory = torch.ones(1, length, 16)
        shapes = (torch.tensor(sizes), sizes, torch.tensor([0, 6]))
        arguments = (queries, None, memory, None, None, points, *shapes)
        eager = observe(layer, layer, arguments)
        assert_same(eager, observe(compiled, layer, arguments))
        assert eager.error is None if length == 10 else "Make sure to align" in str(eager.error)
