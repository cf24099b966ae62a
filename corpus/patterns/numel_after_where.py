"""Static expert loop; torch.where gives dynamic indices; branch on numel() (unbacked symint)
rather than on a tensor.

Expected: same output whether an expert gets tokens or not.
Sound rewrite: yes - empty index is a no-op for index_add_, so the test can be dropped; needs
capture_dynamic_output_shape_ops or gate form for one graph.
Seen in: https://github.com/huggingface/transformers/pull/39012 (DeepSeek-V3: `if
token_indices.numel() > 0`)
"""

import torch
from torch import nn


class Route(nn.Module):
    def __init__(self, n=3, d=4):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(d, d) for _ in range(n))

    def forward(self, x, pick):
        out = torch.zeros_like(x)
        for i, ex in enumerate(self.experts):
            rows = torch.where(pick == i)[0]
            if rows.numel() > 0:
                out.index_add_(0, rows, ex(x[rows]))
        return out


def make():
    torch.manual_seed(0)
    x = torch.randn(4, 4)
    return Route(), [(x, torch.tensor([0, 1, 2, 0])), (x, torch.tensor([1, 1, 1, 1]))]
