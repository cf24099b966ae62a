"""ModuleList loop; each block prints its own mean with its static index, one print per iteration,
via a helper method on self.

Expected: N lines in order with run-time numbers; one graph.
Sound rewrite: yes - append (format, tensors) per iteration, flush after the graph in order.
Seen in: https://github.com/pytorch/pytorch/issues/99609 (break inside a loop -> whole frame
skipped) ; https://github.com/pytorch/pytorch/issues/93739
"""

import torch
from torch import nn


class Blk(nn.Module):
    def __init__(self, i, d=3):
        super().__init__()
        self.i = i
        self.fc = nn.Linear(d, d)

    def _trace(self, t):
        print(f"block {self.i}: mean={t.mean().item():.4f}")

    def forward(self, x):
        y = torch.tanh(self.fc(x)) + x
        self._trace(y)
        return y


class Net(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.blocks = nn.ModuleList(Blk(i) for i in range(n))

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x.sum()


def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(2, 3),), (torch.zeros(2, 3),)]
