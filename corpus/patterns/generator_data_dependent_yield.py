"""Helper generator yields only chunks whose sum is positive; caller folds them with a running
index.

Expected: same total and the same number of yielded chunks.
Sound rewrite: partial - number of yields is data-dependent; gate form only if the consumer is a
commutative fold. Decline by default.
Seen in: https://github.com/pytorch/pytorch/issues/93737 and /issues/126360 (generators)
"""

import torch


def hot_chunks(x, width: int):
    for piece in x.split(width):
        if piece.sum() > 0:
            yield piece


def fold(x):
    total = torch.zeros(())
    for n, piece in enumerate(hot_chunks(x, 2)):
        total = total + piece.max() * (n + 1)
    return total


def make():
    return fold, [
        (torch.tensor([1.0, 2, -5, 1, 3, 4]),),
        (torch.tensor([-1.0, -2, -5, 1, 3, 4]),),
        (-torch.ones(6),),
    ]
