import torch
from torch import nn


def print(*parts):
    return parts


class Net(nn.Module):
    def forward(self, x):
        print("not the builtin", x)
        return x * 2
