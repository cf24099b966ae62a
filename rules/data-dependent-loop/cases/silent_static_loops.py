import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, steps: int):
        super().__init__()
        self.steps = steps
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(steps))

    def forward(self, x):
        step = 0
        while step < self.steps:
            x = self.layers[step](x)
            step += 1
        for row in range(x.shape[0]):
            x = x + row
        return x
