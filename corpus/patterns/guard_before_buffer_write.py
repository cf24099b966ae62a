"""A guard, then a write to a buffer that must not survive when the guard fails.

Expected: the counter is unchanged after a failing call, and one higher after a passing one.
Sound rewrite: partial - only with the write gated by the predicate; else to be refused.
"""

import torch
from torch import nn


class Meter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        if torch.isnan(x).any():
            raise ValueError("input holds nan")
        self.seen.add_(1)
        return x / self.seen


def make():
    return Meter(), [(torch.ones(2),), (torch.tensor([1.0, float("nan")]),)]
