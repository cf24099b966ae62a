# expect: GM203 fixed
# expect: GM203 fixed
import warnings

import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, device=None):
        if device is not None:
            warnings.warn("`device` is ignored", FutureWarning, stacklevel=2)
        warnings.warn(f"{x.dim()} dimensions")
        return x * 2


def make():
    return Net(), [(torch.ones(2),), (torch.ones(2, 2), "cpu")]
