import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        assert x.dim() == 2, f"{x.dim()} dimensions"
        return x * 2
