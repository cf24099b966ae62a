"""A guard that raises a custom exception with a field, from a cause.

Expected: type, message, the field and __cause__ as eagerly.
Sound rewrite: yes - the statement moves as it is; the field is read from the value at the site.
"""

import torch

ROOT = KeyError("limits")


class RangeError(ValueError):
    def __init__(self, message, limit):
        super().__init__(message, limit)
        self.limit = limit


def bounded(x, limit: float):
    y = x.tanh() * 3
    if y.abs().max() > limit:
        raise RangeError("value out of range", limit) from ROOT
    return y + 1


def make():
    return bounded, [(torch.tensor([0.1]), 2.0), (torch.tensor([5.0]), 2.0)]
