# expect: GM301 refused: except
import torch
from torch import nn


def checked(scale):
    if (scale <= 0).any():
        raise ValueError("scale must be positive")
    return scale


class Net(nn.Module):
    def forward(self, x, scale):
        try:
            scale = checked(scale)
        except ValueError:
            scale = torch.ones_like(scale)
        return x / scale
