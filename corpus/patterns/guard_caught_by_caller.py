"""Helper raises a custom exception on a tensor test; the CALLER catches it and takes a fallback
value.

Expected: fallback value on bad input, no exception escapes.
Sound rewrite: yes as torch.where (exception used as control flow). TRAP: turning the guard into
an in-graph assertion makes the error escape the except.
Seen in: https://github.com/pytorch/pytorch/issues/174166 (try/except in compiled code) ;
/issues/154454 (re-raise)
"""

import torch


class BadScale(ValueError):
    pass


def checked(scale):
    if (scale <= 0).any():
        raise BadScale("scale must be positive")
    return scale


def normalise(x, scale):
    try:
        s = checked(scale)
    except BadScale:
        s = torch.ones_like(scale)
    return x / s


def make():
    x = torch.tensor([2.0, 4.0])
    return normalise, [(x, torch.tensor([2.0, 0.5])), (x, torch.tensor([2.0, -1.0]))]
