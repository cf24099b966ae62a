# expect: GM101 refused: no rule turns this branch into a selection
import torch
from torch import nn


class Clamp(nn.Module):
    def forward(self, x):
        if x.dtype == torch.float16 and torch.isinf(x).any():
            x = torch.clamp(x, min=-6e4, max=6e4)
        return x * 2
