"""A printed statistic with an infinite derivative where the program has none.

Expected: equal gradients, finite at 0 too.
Sound rewrite: yes - what is printed is detached from the gradient's history.
"""

import torch
from torch import nn

CHECK_GRADS = True


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([0.0, 2.0]))

    def forward(self, x):
        print(f"spread {self.scale.sqrt().mean().item():.3f}")
        return (x * self.scale).sum()


def make():
    return Head(), [(torch.tensor([1.0, 3.0]),), (torch.tensor([0.0, -1.0]),)]
