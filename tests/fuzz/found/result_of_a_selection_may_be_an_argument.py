# ruff: noqa
# fmt: off
# A program that behaves differently once mended. To see it:
#     python -m eval fuzz --replay THIS_FILE
# arms: {"gradients": "none", "training": false, "backend": "aot_eager", "rounds": 2, "thread": false, "checkpoint": false, "trap": "deferred", "plain": false}
# a second fix changes the text

import torch
from torch import nn


nan = float("nan")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor, flag):
        h = self.fc(x.float())
        if not torch.isfinite(x).all():
            t1 = h.to(torch.bfloat16)
        else:
            x = x * h
            t1 = h.round()
        t2 = x.rsqrt()
        m3 = None
        if torch.any(x == 0):
            m3 = torch.tanh(h)
        if m3 is not None:
            x = x + m3
        return x


def make():
    return Net(), [
        (torch.tensor([[-1.0, -2.0]], dtype=torch.float64), False,),
        (torch.tensor([[1.0, 2.0]], dtype=torch.float64), False,),
        (torch.tensor([[nan, 1.0]], dtype=torch.float64), False,),
    ]
