# expect: GM302 fixed
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        assert (x >= 0).all()
        return x.sqrt()


def make():
    return Net(), [(torch.ones(2),), (-torch.ones(2),)]
# output
import torch
from torch import nn
from graphmend.runtime import deferred_check


@deferred_check
def _forward_check(x_all):
    assert x_all


class Net(nn.Module):
    def forward(self, x):
        if __debug__:
            _forward_check((x >= 0).all())
        return x.sqrt()


def make():
    return Net(), [(torch.ones(2),), (-torch.ones(2),)]
