# expect: GM303 fixed
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        torch._check_value(bool((x > 0).all()), lambda: f"{x.min().item()} is not positive")
        return x.log()


def make():
    return Net(), [(torch.ones(2),), (-torch.ones(2),)]
# output
import torch
from torch import nn
from graphmend.runtime import deferred_check


@deferred_check
def _forward_check(x_all, x):
    torch._check_value(bool(x_all), lambda: f"{x.min().item()} is not positive")


class Net(nn.Module):
    def forward(self, x):
        _forward_check((x > 0).all(), x)
        return x.log()


def make():
    return Net(), [(torch.ones(2),), (-torch.ones(2),)]
