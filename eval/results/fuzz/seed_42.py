# ruff: noqa
# fmt: off
# A program that behaves differently once mended. To see it:
#     python -m eval fuzz --replay THIS_FILE
# arms: {"gradients": "none", "training": false, "backend": "eager", "rounds": 1, "thread": false, "checkpoint": true, "trap": "deferred", "plain": false}
# compiled by eager, whole, call 0:
# error:
#   RuntimeError('Expected cond to be True, but got False. (Could this error message be improved? If so, please report an enhancement request to PyTorch.)',) Expected cond to be True, but got False. (Could this error message be improved? If so, please report an enhancement request to PyTorch.) from NoneType
#   RuntimeError('Runtime assertion failed for expression u0 >= 1 on node \'ge\'') here (the places that torch adds are left out)

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, flag):
        h = x * 1
        torch._check(bool(h.sum() > 0))
        return h + h


def make():
    return Net(), [
        (torch.tensor([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]], dtype=torch.float32), True,),
        (torch.tensor([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], dtype=torch.float32), True,),
    ]
