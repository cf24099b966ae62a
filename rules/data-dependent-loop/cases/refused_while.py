# expect: GM102 refused: no rule bounds this loop
import torch
from torch import nn


class Halve(nn.Module):
    def forward(self, x):
        while x.abs().max() > 1:
            x = x / 2
        return x


def make():
    return Halve(), [(torch.tensor([4.0, 1.0]),), (torch.ones(1),)]
