"""A print, a guard in a called function and a guard in the caller, all in one graph.

Expected: the text first, then the exception of whichever guard comes first in program order.
Sound rewrite: yes - all three deferred, in that order; the second never runs after the first fails.
"""

import torch


def positive(scale):
    if (scale <= 0).any():
        raise ValueError(f"scale must be positive, got {scale.min().item():.2f}")
    return scale.log()


def normalise(x, scale):
    print("total", x.sum())
    y = x / positive(scale).exp()
    if not torch.isfinite(y).all():
        raise FloatingPointError("result is not finite")
    return y * 2


def make():
    fine, flat = torch.tensor([2.0, 4.0]), torch.tensor([1.0, float("inf")])
    low = torch.tensor([1.0, -0.5])
    return normalise, [(fine, fine), (flat, fine), (flat, low), (fine, low)]
