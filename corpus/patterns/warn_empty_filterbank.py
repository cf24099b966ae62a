"""`if (fb.max(0).values == 0).any(): warnings.warn(f"... {n}")` with a formatted static count,
result unaffected.

Expected: UserWarning only when a filter is empty; same filterbank.
Sound rewrite: yes - deferred conditional warn.
Seen in: https://github.com/pytorch/audio/pull/914 (warn when a mel filter is all zero)
"""

import warnings

import torch


def bank(freqs, centers):
    slope = freqs[:, None] - centers[None, :]
    fb = (1.0 - slope.abs()).clamp(min=0.0)
    if (fb.max(dim=0).values == 0.0).any():
        warnings.warn(f"low df: a filter out of {centers.shape[0]} is empty")  # noqa: B028
    return fb


def make():
    f = torch.linspace(0, 4, 9)
    return bank, [(f, torch.tensor([1.0, 2.0])), (f, torch.tensor([1.0, 40.0]))]
