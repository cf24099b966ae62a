# expect: GM101 fixed
import torch


def rescale(x):
    level = x.abs().max()
    if level <= 1:  # nothing to do
        return x * 1

    # into the unit range
    y = x / level
    return y.clamp(-1, 1)


def make():
    return rescale, [(torch.tensor([0.5, -0.5]),), (torch.tensor([0.5, -4.0]),)]
# output
import torch
from graphmend.runtime import select


def rescale(x):
    level = x.abs().max()

    def then(level, x):  # nothing to do
        return x * 1

    def otherwise(level, x):
        # into the unit range
        y = x / level
        return y.clamp(-1, 1)

    return select(level <= 1, then, otherwise, level, x)


def make():
    return rescale, [(torch.tensor([0.5, -0.5]),), (torch.tensor([0.5, -4.0]),)]
