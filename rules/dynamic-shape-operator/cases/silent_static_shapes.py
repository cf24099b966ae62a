import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        mask = x > 0
        x = torch.where(mask, x, 0)
        x[mask] = 1
        return x.repeat_interleave(2, dim=0)
