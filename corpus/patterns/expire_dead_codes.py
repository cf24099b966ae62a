"""Method with static early return, then tensor early return, then buffer replacement by mask;
called for side effects only.

Expected: codebook/usage buffers identical after calls with and without dead codes.
Sound rewrite: yes - the early return is a no-op case of the masked update:
copy_(where(expired[:,None], fresh, embed)).
Seen in: lucidrains/vector-quantize-pytorch vector_quantize_pytorch/vector_quantize_pytorch.py
expire_codes_ (`if not torch.any(expired): return`) ; compile reports /issues/41 and
https://github.com/pytorch/pytorch/issues/121350
"""

import torch
from torch import nn


class Codebook(nn.Module):
    def __init__(self, n=4, d=3, floor=1.0):
        super().__init__()
        self.floor = floor
        self.register_buffer("embed", torch.arange(n * d, dtype=torch.float32).view(n, d))
        self.register_buffer("usage", torch.full((n,), 2.0))

    @torch.no_grad()
    def expire(self, batch):
        if self.floor == 0:
            return
        dead = self.usage < self.floor
        if not torch.any(dead):
            return
        fresh = batch[: self.embed.shape[0]]
        self.embed.copy_(torch.where(dead[:, None], fresh, self.embed))
        self.usage.copy_(torch.where(dead, torch.full_like(self.usage, 5.0), self.usage))

    def forward(self, x):
        near = torch.cdist(x, self.embed).argmin(-1)
        q = self.embed[near]
        if self.training:
            hits = torch.zeros_like(self.usage).index_add(0, near, torch.ones(x.shape[0]))
            self.usage.mul_(0.5).add_(hits * 0.5)
            self.expire(x)
        return q


def make():
    torch.manual_seed(0)
    x = torch.arange(12, dtype=torch.float32).view(4, 3)
    return Codebook().train(), [
        (x + 0.1,),
        (x[:1].repeat(4, 1),),
        (x[:1].repeat(4, 1) + 0.2,),
        (x,),
    ]
