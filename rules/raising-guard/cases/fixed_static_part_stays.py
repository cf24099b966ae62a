# expect: GM301 fixed
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.strict = True

    def forward(self, x):
        if self.strict and not torch.isfinite(x).all():
            raise FloatingPointError("not finite") from None
        return x * 2


def make():
    return Net(), [(torch.ones(2),), (torch.tensor([1.0, float("inf")]),)]
# output
import torch
from torch import nn
from graphmend.runtime import deferred_check


@deferred_check
def _forward_check(isfinite_all):
    if not isfinite_all:
        raise FloatingPointError("not finite") from None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.strict = True

    def forward(self, x):
        if self.strict:
            _forward_check(torch.isfinite(x).all())
        return x * 2


def make():
    return Net(), [(torch.ones(2),), (torch.tensor([1.0, float("inf")]),)]
