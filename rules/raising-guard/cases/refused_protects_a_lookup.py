# expect: GM301 refused: can fail on data
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(8, 4))

    def forward(self, ids):
        if (ids >= self.table.shape[0]).any():
            raise ValueError("id out of range")
        return F.embedding(ids, self.table)
