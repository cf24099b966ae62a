"""A guard with a static part, and an assert that only holds a static test.

Expected: AssertionError with its message only where the flag is set and a weight is negative.
Sound rewrite: yes - the static flag stays Python, the tensor part is checked after the graph.
"""

import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, strict):
        super().__init__()
        self.strict = strict

    def forward(self, parts, weights):
        assert parts.shape[0] == weights.shape[0], "one weight for each part"
        assert not self.strict or (weights >= 0).all(), f"negative of {weights.shape[0]} weights"
        return (parts * weights[:, None]).sum(0)


def make():
    parts = torch.arange(6.0).reshape(3, 2)
    good, bad = torch.tensor([0.2, 0.3, 0.5]), torch.tensor([0.2, -0.3, 1.1])
    return Mixture(True), [(parts, good), (parts, bad)]
