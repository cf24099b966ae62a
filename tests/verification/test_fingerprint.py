"""Fingerprints are equal exactly where values are, bit for bit."""

from collections import OrderedDict
from dataclasses import dataclass

import pytest
import torch

from graphmend.verification.fingerprint import fingerprint, model_state

ONE = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (torch.tensor(0.0), torch.tensor(-0.0)),
        (torch.tensor(1.0), torch.tensor(1.0 + 2**-23)),
        (torch.tensor(float("nan")), torch.tensor(float("inf"))),
        (ONE, ONE.double()),
        (ONE, ONE[:1]),
        (ONE, ONE.T.contiguous().T),
        (ONE, ONE.clone().requires_grad_()),
        (ONE, ONE.tolist()),
        ([ONE], (ONE,)),
        ([], ()),
        ({"a": ONE}, {"b": ONE}),
        ({"a": 1}, {"a": True}),
        (1.0, 1),
        (None, [None]),
    ],
)
def test_values_that_differ_have_different_fingerprints(value, other):
    assert fingerprint(value) != fingerprint(other)


@dataclass
class Output:
    logits: torch.Tensor
    cache: object = None


class Cache:
    def __init__(self, *keys):
        self.keys = list(keys)
        self.owner = self


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.tensor([float("nan"), 1.0]),
        lambda: torch.empty(0, 3),
        lambda: torch.tensor([1.5, -2.0]).to(torch.bfloat16),
        lambda: torch.tensor([True, False]),
        lambda: OrderedDict(a=[torch.ones(2), None], b=(1, "x")),
        lambda: Output(torch.ones(2), Cache(torch.zeros(1))),
    ],
)
def test_equal_values_have_equal_fingerprints(make):
    assert fingerprint(make()) == fingerprint(make())


def test_tensors_inside_objects_count():
    assert fingerprint(Cache(torch.zeros(1))) != fingerprint(Cache(torch.ones(1)))


def test_state_holds_parameters_buffers_and_plain_attributes():
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    before = model_state(model)
    model[0].running_mean.add_(1)
    model[0].eps = 1e-3
    after = model_state(model)
    assert {k for k in before if before[k] != after[k]} == {"0.running_mean", "0.eps"}
