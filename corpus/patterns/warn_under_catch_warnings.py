"""A warning inside catch_warnings(record=True), counted by the same function.

Expected: no warning escapes; the count is part of the result.
Sound rewrite: none by deferring: to be refused.
"""

import warnings

import torch


def noisy(x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.warn("low precision", UserWarning, stacklevel=1)
    return x * (1 + len(seen))


def make():
    return noisy, [(torch.ones(2),), (torch.zeros(3),)]
