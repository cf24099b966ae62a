"""Operator facts: current for this torch, and true of what torch does on small tensors."""

import json
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from eval import operator_check
from eval import operators as generator
from eval.operator_trial import Sample, observe
from graphmend.analyses.operators import (
    OperatorFacts,
    facts,
    is_constant,
    module_facts,
    only_tensors_have,
)

Case = tuple[str, Callable[..., object], tuple[object, ...]]


def known(name: str) -> OperatorFacts:
    found = facts(name)
    assert found is not None, name
    return found


@pytest.mark.pinned
def test_the_data_is_current() -> None:
    assert generator.text() == (generator.DATA / "operators.json").read_text()


def test_the_overlay_names_only_operators_that_exist() -> None:
    overlay = generator.DATA / "overlay.toml"
    data = json.loads((generator.DATA / "operators.json").read_text())
    assert overlay.exists() and data["torch"] == generator.VERSION


def test_unknown_names_have_no_facts() -> None:
    assert facts("torch.no_such_operator") is None
    assert facts("no_such_method") is None
    assert module_facts("torch.nn.NoSuchLayer") is None
    assert not is_constant("torch.sum")
    for shared in ("split", "to", "log", "values", "update", "index", "float"):
        assert not only_tensors_have(shared)


def _x() -> torch.Tensor:
    return torch.tensor([[1.0, -2.0, 3.0], [0.5, 2.0, -1.0]])


def _i() -> torch.Tensor:
    return torch.tensor([0, 1])


IN_PLACE = [
    "abs_", "add_", "clamp_", "copy_", "div_", "exp_", "fill_", "floor_", "masked_fill_", "mul_",
    "neg_", "normal_", "relu_", "round_", "sigmoid_", "sqrt_", "sub_", "tanh_", "uniform_", "zero_",
    "t_", "squeeze_", "index_fill_", "clamp_min_", "bernoulli_",
]  # fmt: skip
_ARGUMENTS: dict[str, tuple[object, ...]] = {
    "add_": (1,), "clamp_": (0,), "copy_": (torch.ones(2, 3),), "div_": (2,), "fill_": (2,),
    "masked_fill_": (torch.ones(2, 3, dtype=torch.bool), 1), "mul_": (2,), "sub_": (1,),
    "index_fill_": (0, torch.tensor([0]), 1), "clamp_min_": (0,),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_PLACE)
def test_methods_in_place_write_and_return_their_receiver(name: str) -> None:
    tensor = _x().abs()
    before = tensor._version
    result = getattr(tensor, name)(*_ARGUMENTS.get(name, ()))
    assert result is tensor and tensor._version > before
    assert 0 in known(name).writes and 0 in known(name).aliases


ALIASES: list[Case] = [
    ("torch.Tensor.view", torch.Tensor.view, (_x(), -1)),
    ("torch.Tensor.reshape", torch.Tensor.reshape, (_x(), -1)),
    ("torch.Tensor.transpose", torch.Tensor.transpose, (_x(), 0, 1)),
    ("torch.Tensor.permute", torch.Tensor.permute, (_x(), 1, 0)),
    ("torch.Tensor.expand", torch.Tensor.expand, (_x(), 2, 3)),
    ("torch.Tensor.unsqueeze", torch.Tensor.unsqueeze, (_x(), 0)),
    ("torch.Tensor.squeeze", torch.Tensor.squeeze, (_x(),)),
    ("torch.Tensor.flatten", torch.Tensor.flatten, (_x(),)),
    ("torch.Tensor.contiguous", torch.Tensor.contiguous, (_x(),)),
    ("torch.Tensor.float", torch.Tensor.float, (_x(),)),
    ("torch.Tensor.to", torch.Tensor.to, (_x(), torch.float32)),
    ("torch.Tensor.type_as", torch.Tensor.type_as, (_x(), _x())),
    ("torch.Tensor.detach", torch.Tensor.detach, (_x(),)),
    ("torch.Tensor.narrow", torch.Tensor.narrow, (_x(), 0, 0, 1)),
    ("torch.Tensor.select", torch.Tensor.select, (_x(), 0, 0)),
    ("torch.Tensor.diagonal", torch.Tensor.diagonal, (_x(),)),
    ("torch.Tensor.unfold", torch.Tensor.unfold, (_x(), 1, 2, 1)),
    ("torch.Tensor.split", torch.Tensor.split, (_x(), 1)),
    ("torch.Tensor.chunk", torch.Tensor.chunk, (_x(), 2)),
    ("torch.Tensor.unbind", torch.Tensor.unbind, (_x(),)),
    ("torch.Tensor.movedim", torch.Tensor.movedim, (_x(), 0, 1)),
    ("torch.einsum", torch.einsum, ("ij->ji", _x())),
    ("torch.as_tensor", torch.as_tensor, (_x(),)),
    ("torch.broadcast_tensors", torch.broadcast_tensors, (_x(), _x())),
    ("torch.atleast_2d", torch.atleast_2d, (_x(),)),
    ("torch.nn.functional.dropout", F.dropout, (_x(), 0.5, False)),
]


@pytest.mark.parametrize("case", ALIASES, ids=lambda c: c[0])
def test_results_that_share_memory_are_known_to(case: Case) -> None:
    name, function, arguments = case
    tensors = [i for i, a in enumerate(arguments) if isinstance(a, torch.Tensor)]
    result = function(*arguments)
    results = result if isinstance(result, tuple | list) else (result,)
    source = arguments[tensors[0]]
    assert isinstance(source, torch.Tensor)
    start = source.untyped_storage().data_ptr()
    assert any(r.untyped_storage().data_ptr() == start for r in results)
    assert tensors[0] in known(name).aliases


FRESH: list[Case] = [
    ("torch.where", torch.where, (_x() > 0, _x(), _x())),
    ("torch.add", torch.add, (_x(), 0)),
    ("torch.clone", torch.clone, (_x(),)),
    ("torch.cat", torch.cat, ([_x()],)),
    ("torch.stack", torch.stack, ([_x()],)),
    ("torch.relu", torch.relu, (_x().abs(),)),
    ("torch.clamp", torch.clamp, (_x(), -9, 9)),
    ("torch.Tensor.masked_fill", torch.Tensor.masked_fill, (_x(), _x() > 9, 0)),
    ("torch.Tensor.repeat", torch.Tensor.repeat, (_x(), 1, 1)),
    ("torch.Tensor.index_select", torch.Tensor.index_select, (_x(), 0, _i())),
    ("torch.Tensor.gather", torch.Tensor.gather, (_x(), 0, torch.zeros(1, 3, dtype=torch.long))),
    ("torch.Tensor.flip", torch.Tensor.flip, (_x(), [])),
    ("torch.Tensor.roll", torch.Tensor.roll, (_x(), 0)),
    ("torch.nn.functional.pad", F.pad, (_x(), (0, 0))),
    ("torch.nn.functional.softmax", F.softmax, (_x(), -1)),
    ("torch.nn.functional.layer_norm", F.layer_norm, (_x(), (3,))),
    ("torch.nn.functional.linear", F.linear, (_x(), _x())),
]


@pytest.mark.parametrize("case", FRESH, ids=lambda c: c[0])
def test_results_that_are_said_to_be_fresh_are(case: Case) -> None:
    name, function, arguments = case
    result = function(*arguments)
    assert isinstance(result, torch.Tensor)
    start = result.untyped_storage().data_ptr()
    given = [a for a in arguments if isinstance(a, torch.Tensor)]
    assert all(a.untyped_storage().data_ptr() != start for a in given)
    assert not known(name).aliases and not known(name).writes


RANDOM: list[Case] = [
    ("torch.rand", torch.rand, (3,)),
    ("torch.randn_like", torch.randn_like, (_x(),)),
    ("torch.randperm", torch.randperm, (5,)),
    ("torch.bernoulli", torch.bernoulli, (_x().sigmoid(),)),
    ("torch.multinomial", torch.multinomial, (_x().abs(), 1)),
    ("torch.Tensor.normal_", torch.Tensor.normal_, (_x(),)),
    ("torch.nn.functional.dropout", F.dropout, (_x(),)),
    ("torch.nn.functional.gumbel_softmax", F.gumbel_softmax, (_x(),)),
    ("torch.nn.functional.rrelu", F.rrelu, (_x(), 0.1, 0.3, True)),
]


@pytest.mark.parametrize("case", RANDOM, ids=lambda c: c[0])
def test_draws_move_the_generator(case: Case) -> None:
    name, function, arguments = case
    before = torch.get_rng_state()
    function(*arguments)
    assert not torch.equal(before, torch.get_rng_state())
    assert known(name).random


def test_drawing_nothing_is_not_called_random() -> None:
    before = torch.get_rng_state()
    for name in ("softmax", "relu", "cumsum", "sort", "matmul", "layer_norm", "zeros_like"):
        found = facts(f"torch.{name}") or known(f"torch.nn.functional.{name}")
        assert not found.random, name
    assert torch.equal(before, torch.get_rng_state())


FAILS: list[Case] = [
    ("torch.nn.functional.embedding", F.embedding, (torch.tensor([9]), _x())),
    ("torch.gather", torch.gather, (_x(), 0, torch.tensor([[9]]))),
    ("torch.index_select", torch.index_select, (_x(), 0, torch.tensor([9]))),
    ("torch.take", torch.take, (_x(), torch.tensor([99]))),
    ("torch.scatter", torch.scatter, (_x(), 0, torch.tensor([[9]]), 1.0)),
    ("torch.index_add", torch.index_add, (_x(), 0, torch.tensor([9]), _x()[:1])),
    ("torch.floor_divide", torch.floor_divide, (_i(), torch.tensor(0))),
    ("torch.remainder", torch.remainder, (_i(), torch.tensor(0))),
    ("torch.linalg.inv", torch.linalg.inv, (torch.zeros(2, 2),)),
    ("torch.linalg.cholesky", torch.linalg.cholesky, (-torch.eye(2),)),
    ("torch.nn.functional.one_hot", F.one_hot, (torch.tensor([-1]),)),
    ("torch.nn.functional.cross_entropy", F.cross_entropy, (_x(), torch.tensor([9, 9]))),
    ("torch.bernoulli", torch.bernoulli, (_x(),)),
    ("torch.multinomial", torch.multinomial, (-_x().abs(), 1)),
    ("torch.repeat_interleave", torch.repeat_interleave, (_x()[0], torch.tensor([-1, 1, 1]))),
    ("torch.bincount", torch.bincount, (torch.tensor([-1]),)),
    ("torch._assert_async", torch._assert_async, (torch.tensor(False),)),
    ("torch.nn.functional.binary_cross_entropy", F.binary_cross_entropy, (_x() + 9, _x())),
]


@pytest.mark.parametrize("case", FAILS, ids=lambda c: c[0])
def test_operators_that_fail_on_data_are_known_to(case: Case) -> None:
    name, function, arguments = case
    with pytest.raises((RuntimeError, IndexError)):
        function(*arguments)
    assert known(name).raises_on_data


def test_running_statistics_and_norm_limits_are_writes() -> None:
    mean, var, weight = torch.zeros(3), torch.ones(3), torch.ones(4, 3)
    F.batch_norm(_x(), mean, var, training=True)
    F.embedding(_i(), weight, max_norm=0.5)
    assert mean.any() and (var != 1).any() and (weight != 1).any()
    assert known("torch.nn.functional.batch_norm").writes == {1, 2}
    limited = known("torch.nn.functional.embedding").given({"input", "weight", "max_norm"})
    assert limited.writes == {1}
    assert not known("torch.nn.functional.embedding").given({"input", "weight"}).writes
    layer = module_facts("torch.nn.BatchNorm1d")
    assert layer is not None and layer.writes_state


def test_variants_follow_the_parameters_given() -> None:
    assert known("torch.where").given({"condition"}).dynamic_shape
    assert not known("torch.where").given({"condition", "input", "other"}).dynamic_shape
    assert known("torch.max").given({"input"}).returns == "tensor"
    assert known("torch.max").given({"input", "dim"}).fields == ("values", "indices")
    assert known("torch.nn.functional.relu").given({"input", "inplace"}).writes == {0}
    assert known("torch.isinf").given({"input"}).total
    assert not known("torch.any").given({"input", "dim"}).total
    norm = known("torch.norm")
    assert norm.given({"input", "p", "p=nuc"}).raises_on_data
    assert norm.given({"input", "p"}).raises_on_data  # any order
    assert not norm.given({"input", "p", "p=2"}).raises_on_data
    assert not norm.given({"input"}).raises_on_data


def test_dtypes_are_constants() -> None:
    for name in ("float16", "int64", "strided", "channels_last", "inf"):
        assert is_constant(f"torch.{name}")


def test_every_entry_loads() -> None:
    data = json.loads((generator.DATA / "operators.json").read_text())
    for name in data["operators"]:
        assert known(name).returns in {
            "tensor", "tuple", "scalar", "static", "none", "numpy", "unknown"
        }  # fmt: skip
    for name in data["modules"]:
        assert module_facts(name) is not None


@pytest.mark.pinned
def test_a_sample_of_the_operators_does_what_the_tables_say() -> None:
    chosen = operator_check.names()[::25]
    checked = list(operator_check.check_all(chosen, each=1, vary_all=False))
    assert [one.name for one in checked] == chosen
    assert {one.name: one.wrong for one in checked if one.wrong} == {}
    assert sum(bool(one.calls) for one in checked) > len(chosen) * 2 / 3


@pytest.mark.parametrize(
    "function, sample, fact",
    [
        (torch.add, (_x(), 1), None),
        (torch.Tensor.add_, (_x(), 1), "writes"),
        (torch.Tensor.t_, (_x(),), "writes"),
        (torch.Tensor.view, (_x(), -1), "aliases"),
        (torch.nn.functional.dropout, (_x(),), "random"),
        (torch.linalg.cholesky, (torch.eye(2),), "fails"),
        (torch.gather, (_x(), 1, _i()[None]), "fails"),
        (lambda x: torch.set_default_dtype(torch.float64), (_x(),), "settings"),
    ],
)
def test_a_trial_sees_what_an_operator_does(
    function: Callable[..., object], sample: tuple[object, ...], fact: str | None
) -> None:
    try:
        seen = observe(Sample(function, sample))
    finally:
        torch.set_default_dtype(torch.float32)
    assert seen.works
    for name in ("writes", "aliases", "random", "fails", "settings"):
        assert bool(getattr(seen, name)) == (name == fact or (name, fact) == ("aliases", "writes"))
