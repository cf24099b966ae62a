"""Static dtype test `and` (tensor test `or` tensor test); else-less rebinding of one local.

Expected: fp16 with inf -> clamped; fp16 clean / nan / fp32 -> same values as eager; one graph.
Sound rewrite: yes - static part stays Python, tensor part -> logical_or, torch.where (or
unconditional clamp).
Seen in: https://github.com/huggingface/transformers/pull/36712 (Whisper encoder) ; same pattern
named in https://github.com/pytorch/pytorch/pull/180406 (vLLM cast_overflow_tensors)
"""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, h):
        skip = h
        h = skip + torch.tanh(self.proj(h.float())).to(h.dtype)
        if h.dtype == torch.float16 and (torch.isinf(h).any() or torch.isnan(h).any()):
            ceiling = torch.finfo(h.dtype).max - 1000
            h = torch.clamp(h, min=-ceiling, max=ceiling)
        return h * 0.5


def make():
    torch.manual_seed(0)
    ok = torch.randn(2, 8).half()
    inf = ok.clone()
    inf[0, 0] = float("inf")
    inf[1, 3] = float("-inf")
    nan = ok.clone()
    nan[1, 1] = float("nan")
    return Block(), [(ok,), (inf,), (nan,), (ok.float(),)]
