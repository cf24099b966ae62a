# expect: GM201 refused: can fail on data
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(8, 4))

    def forward(self, ids):
        print("looking up", ids)
        return F.embedding(ids, self.table)
