"""`for e in hit.nonzero(): idx = int(e)` then torch.where(mask[idx]) token gather and index_add_
write-back.

Expected: same MoE output when all, some or one expert is used.
Sound rewrite: partial - static loop over all experts with a multiplicative gate; needs proof that
the expert is row-wise. Costs extra compute.
Seen in: https://github.com/huggingface/transformers/pull/40114 and /pull/38133 (loop over
expert_hit.nonzero())
"""

import torch
import torch.nn.functional as F
from torch import nn


class TinyMoE(nn.Module):
    def __init__(self, n=3, d=4):
        super().__init__()
        self.n = n
        self.experts = nn.ModuleList(nn.Linear(d, d) for _ in range(n))

    def forward(self, x, pick, weight):
        out = torch.zeros_like(x)
        onehot = F.one_hot(pick, num_classes=self.n).t()
        used = (onehot.sum(-1) > 0).nonzero()
        for e in used:
            idx = int(e)
            (rows,) = torch.where(onehot[idx] > 0)
            y = self.experts[idx](x[rows]) * weight[rows, None]
            out.index_add_(0, rows, y)
        return out


def make():
    torch.manual_seed(0)
    x = torch.randn(5, 4)
    w = torch.rand(5)
    return TinyMoE(), [
        (x, torch.tensor(p), w) for p in ([0, 1, 2, 0, 1], [1, 1, 1, 1, 1], [0, 2, 0, 2, 0])
    ]
