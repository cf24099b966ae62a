# expect: GM303 refused: except
import torch
from torch import nn


def require(condition, message):
    if not condition:
        raise ValueError(message)


class Net(nn.Module):
    def forward(self, x):
        try:
            require(bool(torch.isfinite(x).all()), "not finite")
        except ValueError:
            x = x.nan_to_num()
        return x * 2
