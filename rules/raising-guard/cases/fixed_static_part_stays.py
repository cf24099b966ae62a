# expect: GM301 fixed
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.strict = True

    def forward(self, x):
        if self.strict and not torch.isfinite(x).all():
            raise FloatingPointError("not finite") from None
        return x * 2


def make():
    return Net(), [(torch.ones(2),), (torch.tensor([1.0, float("inf")]),)]
