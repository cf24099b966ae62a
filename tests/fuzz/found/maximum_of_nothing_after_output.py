# ruff: noqa
# fmt: off
# A program that behaves differently once mended. To see it:
#     python -m eval fuzz --replay THIS_FILE
# arms: {"gradients": "none", "training": false, "backend": "eager", "rounds": 1, "thread": false, "checkpoint": false}
# compiled by eager, whole, call 0:
# record:
#   stdout   here

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, flag):
        h = x * 1
        print("here")
        h = h * 2
        s1 = h.max()
        return h + h


def make():
    return Net(), [
        (
            torch.empty(0, 2, dtype=torch.float32),
            True,
        ),
        (
            torch.empty(0, 2, dtype=torch.float32),
            True,
        ),
    ]
