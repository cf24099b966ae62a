"""Repeat_interleave with tensor counts and no output_size, then a reduction.

Expected: same sum.
Sound rewrite: yes for the reduction ((x * counts).sum()); in general needs output_size or
decline.
Seen in: https://github.com/huggingface/transformers/pull/45816 (cu_seqlens via repeat_interleave
-> dynamic shape)
"""

import torch


def weighted(x, counts):
    rep = torch.repeat_interleave(x, counts)
    return rep.sum(), rep.numel()


def make():
    return weighted, [
        (torch.tensor([1.0, 2, 3]), torch.tensor([1, 2, 0])),
        (torch.tensor([1.0, 2, 3]), torch.tensor([0, 0, 0])),
    ]
