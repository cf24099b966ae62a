# expect: GM302 fixed
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, weights):
        assert torch.isfinite(weights).all(), f"peak {weights.abs().max().item()}"
        return weights * 2


def make():
    return Net(), [(torch.ones(2),), (torch.tensor([1.0, float("inf")]),)]
# output
import torch
from torch import nn
from graphmend.runtime import deferred_check


@deferred_check
def _forward_check(isfinite_all, weights):
    assert isfinite_all, f"peak {weights.abs().max().item()}"


class Net(nn.Module):
    def forward(self, weights):
        if __debug__:
            _forward_check(torch.isfinite(weights).all(), weights)
        return weights * 2


def make():
    return Net(), [(torch.ones(2),), (torch.tensor([1.0, float("inf")]),)]
