"""Toy rows for the harness, with faults planted in the arm that has graphmend loaded."""

import logging
import sys

import torch
from torch import nn

from corpus.recipe import Case

log = logging.getLogger("toys")
PLANTED = "graphmend" in sys.modules


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        return {"y": torch.relu(self.layer(x))}


class Printing(Plain):
    def forward(self, x):
        y = self.layer(x)
        print("rows", x.shape[0], "sum", y.sum().detach())
        return {"y": torch.relu(y)}


class Wrong(Plain):
    def forward(self, x):
        if PLANTED:
            log.error("only here")
            self.calls.add_(1)
            x = x * (1 + 2**-23)
        return super().forward(x)


class Unseeded(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(4))
        self.register_buffer("scale", torch.empty(2))


def _case(model):
    return Case(
        model, [{"x": torch.ones(2, 3)}, {"x": torch.eye(3)}, {"x": torch.full((5, 3), 2.0)}]
    )


def plain():
    return _case(Plain())


def printing():
    return _case(Printing())


def wrong():
    return _case(Wrong())


def unseeded():
    return Case(Unseeded(), [])


def broken():
    raise RuntimeError("cannot be built")
