"""Guards on shapes, dtypes and None alone.

Expected: captured as they are.
Sound rewrite: not needed; nothing may change.
"""

import torch


def attend(q, k, bias=None):
    if q.dim() != 2 or q.shape[-1] != k.shape[-1]:
        raise ValueError(f"widths {q.shape[-1]} and {k.shape[-1]} differ")
    assert q.dtype == k.dtype, "one dtype for both"
    scores = q @ k.T
    return scores if bias is None else scores + bias


def make():
    q = torch.arange(6.0).reshape(2, 3)
    return attend, [(q, q), (q, q, torch.ones(2, 2))]
