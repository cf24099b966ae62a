# expect: GM302 refused: except
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        try:
            assert torch.isfinite(x).all(), "not finite"
        except AssertionError:
            x = x.nan_to_num()
        return x * 2
