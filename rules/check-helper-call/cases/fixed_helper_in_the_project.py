# expect: GM303 fixed
import torch
from torch import nn


def require(condition, message):
    if not condition:
        raise ValueError(message)


class Net(nn.Module):
    def forward(self, x):
        require(bool((x > 0).all()), f"{x.shape[0]} rows, not all positive")
        return x.log()


def make():
    return Net(), [(torch.ones(2),), (-torch.ones(2),)]
# output
import torch
from torch import nn
from graphmend.runtime import deferred_check


def require(condition, message):
    if not condition:
        raise ValueError(message)


@deferred_check
def _forward_check(x_all, x):
    require(bool(x_all), f"{x.shape[0]} rows, not all positive")


class Net(nn.Module):
    def forward(self, x):
        _forward_check((x > 0).all(), x)
        return x.log()


def make():
    return Net(), [(torch.ones(2),), (-torch.ones(2),)]
