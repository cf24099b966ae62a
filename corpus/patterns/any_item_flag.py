"""A Python bool from .any().item() computed once, then consulted in several places (method on
self, passed as keyword).

Expected: same output with and without global tokens; one graph.
Sound rewrite: partial - flag must become a tensor at every consumer; sound here (pure, same
shapes) but needs whole-flow rewriting across the call.
Seen in: transformers modeling_longformer.py `is_global_attn = ....any().item()` ; see also
https://github.com/huggingface/transformers/pull/37944
"""

import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.local = nn.Linear(d, d)
        self.glob = nn.Linear(d, d)

    def _attend(self, h, g, use_global=False):
        y = self.local(h)
        if use_global:
            w = g.to(h.dtype).unsqueeze(-1)
            y = y + self.glob((h * w).sum(1, keepdim=True))
        return y

    def forward(self, h, marks):
        g = marks > 0
        use_global = g.flatten().any().item()
        y = self._attend(h, g, use_global=use_global)
        return y * 2 if use_global else y


def make():
    torch.manual_seed(0)
    h = torch.randn(2, 3, 4)
    return Mixer(), [(h, torch.zeros(2, 3)), (h, torch.tensor([[1.0, 0, 0], [0, 0, 0]]))]
