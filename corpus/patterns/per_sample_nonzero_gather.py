"""For each sample: idx = nonzero(mask).flatten(); use only those tokens in a softmax; collect and
stack.

Expected: same attention result for padded and unpadded prompts.
Sound rewrite: partial - masked softmax (-inf) is equivalent up to rounding; needs semantic
knowledge, not a local rewrite.
Seen in: https://github.com/tenstorrent/tt-xla/issues/5951 (diffusers Mochi processor: nonzero
inside a per-sample for loop)
"""

import torch


def pooled_attention(q, k, v, mask):
    outs = []
    for i in range(q.shape[0]):
        live = torch.nonzero(mask[i].flatten(), as_tuple=False).flatten()
        score = torch.softmax(q[i] @ k[i, live].t() / 2.0, dim=-1)
        outs.append(score @ v[i, live])
    return torch.stack(outs)


def make():
    torch.manual_seed(0)
    q = torch.randn(2, 3, 4)
    k = torch.randn(2, 5, 4)
    v = torch.randn(2, 5, 4)
    part = torch.tensor([[1, 1, 1, 0, 0], [1, 0, 0, 0, 0]], dtype=torch.bool)
    return pooled_attention, [(q, k, v, torch.ones(2, 5, dtype=torch.bool)), (q, k, v, part)]
