# expect: GM101 refused: may fail on data that its side would not see
import torch
from torch import nn


class TwoTables(nn.Module):
    def __init__(self):
        super().__init__()
        self.small = nn.Embedding(10, 4)
        self.large = nn.Embedding(100, 4)

    def forward(self, ids):
        if (ids < 10).all():
            h = self.small(ids)
        else:
            h = self.large(ids)
        return h * 2
