"""Torch.autograd.grad called inside the compiled forward to return forces, after a data-dependent
cutoff guard.

Expected: same energy and forces; ValueError when an atom pair coincides.
Sound rewrite: partial - guard yes; autograd.grad inside the region depends on Dynamo support -
tool must not touch it.
Seen in: https://github.com/isayevlab/aimnetcentral/pull/109 (energy + forces computed in one
compiled call)
"""

import torch
from torch import nn


class Pot(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = nn.Parameter(torch.tensor(1.5))

    def forward(self, pos):
        pos = pos.detach().requires_grad_(True)
        gap = (pos[1:] - pos[:-1]).norm(dim=-1)
        if (gap < 1e-6).any():
            raise ValueError("two atoms share a position")
        energy = (self.k * (gap - 1.0) ** 2).sum()
        (g,) = torch.autograd.grad(energy, pos, create_graph=self.training)
        return energy, -g


def make():
    torch.manual_seed(0)
    p = torch.randn(4, 3)
    q = p.clone()
    q[1] = q[0]
    return Pot().eval(), [(p,), (q,)]
