# expect: GM102 refused: no rule bounds this loop
import torch
from torch import nn


class Halve(nn.Module):
    def forward(self, x):
        while x.abs().max() > 1:
            x = x / 2
        return x
