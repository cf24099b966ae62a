# expect: GM201 fixed
# expect: GM201 fixed
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        y = x * 1
        print("before", y)
        y.add_(1)
        print("after", y)
        return y


def make():
    return Net(), [(torch.ones(2),), (torch.zeros(3),)]
# output
import torch
from torch import nn
from graphmend.runtime import deferred_effect


@deferred_effect
def _forward_print(y):
    print("before", y)


@deferred_effect
def _forward_print_2(y):
    print("after", y)


class Net(nn.Module):
    def forward(self, x):
        y = x * 1
        _forward_print(y)
        y.add_(1)
        _forward_print_2(y)
        return y


def make():
    return Net(), [(torch.ones(2),), (torch.zeros(3),)]
