# expect: GM201 fixed
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        rows = x.shape[0]
        print(f'{rows=} {x.dtype!s:>16} "quoted" {x.sum().item():.3f}')
        return x * 2


def make():
    return Net(), [(torch.ones(2),), (torch.arange(3.0),)]
# output
import torch
from torch import nn
from graphmend.runtime import deferred_effect


@deferred_effect
def _forward_print(rows, x_dtype, x_sum):
    print(f'{rows=} {x_dtype!s:>16} "quoted" {x_sum.item():.3f}')


class Net(nn.Module):
    def forward(self, x):
        rows = x.shape[0]
        _forward_print(rows, x.dtype, x.sum())
        return x * 2


def make():
    return Net(), [(torch.ones(2),), (torch.arange(3.0),)]
