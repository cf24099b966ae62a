"""`n = int(kind.max()) + 1` drives a Python loop that masks edges per relation and accumulates
with index_add.

Expected: same node output for 1, 2 and 3 relations in the data.
Sound rewrite: partial - replace the bound by the static table size (self.w.shape[0]) when
provable (missing relations add zeros); otherwise decline.
Seen in: https://github.com/pyg-team/pytorch_geometric/issues/8467 (RGCNConv: int(tensor) then
loop)
"""

import torch
from torch import nn


class RelConv(nn.Module):
    def __init__(self, n_rel=3, d=4):
        super().__init__()
        self.w = nn.Parameter(torch.randn(n_rel, d, d))

    def forward(self, x, src, dst, kind):
        out = torch.zeros_like(x)
        n = int(kind.max()) + 1
        for r in range(n):
            hit = (kind == r).to(x.dtype).unsqueeze(-1)
            msg = (x[src] @ self.w[r]) * hit
            out = out.index_add(0, dst, msg)
        return out


def make():
    torch.manual_seed(0)
    x = torch.randn(5, 4)
    src = torch.tensor([0, 1, 2, 3])
    dst = torch.tensor([1, 2, 3, 4])
    return RelConv(), [
        (x, src, dst, torch.tensor(k)) for k in ([0, 0, 0, 0], [0, 1, 1, 0], [2, 0, 1, 2])
    ]
