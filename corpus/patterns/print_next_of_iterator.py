"""A print whose argument draws from an iterator that traced code draws from as well.

Expected: labels and factors alternate as eagerly.
Sound rewrite: only with the argument evaluated in place; to be refused otherwise.
"""

import torch


def labelled(x):
    numbers = iter((1, 2, 3))
    print("step", next(numbers))
    x = x * next(numbers)
    print("step", next(numbers), x.sum())
    return x + 1


def make():
    return labelled, [(torch.tensor([2.0, 4.0]),), (torch.tensor([1.0]),)]
