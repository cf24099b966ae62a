import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        if x.shape[-1] != 3 or x.dtype != torch.float32:
            raise ValueError("three float channels")
        return x.mean(-1)
