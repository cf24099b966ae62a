import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = float(scale)

    def forward(self, x):
        rows = int(x.shape[0])
        return x * self.scale / float(rows) + len(x) + x.numel()
