"""A guard whose exception the caller swallows with contextlib.suppress.

Expected: the fallback value on bad input; no exception escapes.
Sound rewrite: none as a deferred check: the exception is control flow here.
"""

import contextlib

import torch


def checked_mean(x):
    if torch.isnan(x).any():
        raise ValueError("nan in the input")
    return x.mean()


def safe_mean(x):
    result = torch.zeros(())
    with contextlib.suppress(ValueError):
        result = checked_mean(x)
    return result + 1


def make():
    return safe_mean, [(torch.ones(3),), (torch.tensor([1.0, float("nan")]),)]
