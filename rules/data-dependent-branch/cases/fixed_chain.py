# expect: GM101 fixed
# expect: GM101 fixed
import torch


def grade(x, scale: bool):
    y = x + 0
    if not scale:
        y = y * 2
    elif y.max() > 10:
        y = y / 10
    elif y.max() > 1:
        y = y - 1
    return y + 1


def make():
    inputs = [torch.tensor([v, 0.0]) for v in (0.5, 2.0, 20.0)]
    return grade, [(x, scale) for x in inputs for scale in (True, False)]
# output
import torch
from graphmend.runtime import select


def grade(x, scale: bool):
    y = x + 0
    if not scale:
        y = y * 2
    else:
        def then(y):
            y = y / 10
            return y

        def otherwise(y):
            def then_2(y):
                y = y - 1
                return y

            y = select(y.max() > 1, then_2, lambda y: y, y)
            return y

        y = select(y.max() > 10, then, otherwise, y)
    return y + 1


def make():
    inputs = [torch.tensor([v, 0.0]) for v in (0.5, 2.0, 20.0)]
    return grade, [(x, scale) for x in inputs for scale in (True, False)]
