# expect: GM201 fixed
"""A module docstring stays first."""

import sys

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        scores = self.proj(x)  # before the softmax
        # The peak tells whether training diverges.
        print("peak", scores.max().item(), sep=": ", file=sys.stderr)
        return scores.softmax(-1)  # rows sum to one


def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(2, 4),), (torch.zeros(3, 4),)]
# output
"""A module docstring stays first."""

import sys

import torch
from torch import nn
from graphmend.runtime import deferred_effect


@deferred_effect
def _forward_print(scores_max):
    print("peak", scores_max.item(), sep=": ", file=sys.stderr)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        scores = self.proj(x)  # before the softmax
        # The peak tells whether training diverges.
        _forward_print(scores.max())
        return scores.softmax(-1)  # rows sum to one


def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(2, 4),), (torch.zeros(3, 4),)]
