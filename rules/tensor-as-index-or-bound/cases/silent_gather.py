import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(8, 4))

    def forward(self, ids):
        return self.table[ids] + self.table[0]
