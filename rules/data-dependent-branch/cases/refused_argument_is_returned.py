# expect: GM101 refused: `x` itself may be returned
import torch
from torch import nn


class Clean(nn.Module):
    def forward(self, x):
        bad = torch.isnan(x)
        if bad.any():
            x = x.masked_fill(bad, 0)
        return x
