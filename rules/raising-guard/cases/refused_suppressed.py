# expect: GM301 refused: suppress
import contextlib

import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        with contextlib.suppress(ValueError):
            if torch.isnan(x).any():
                raise ValueError("not a number")
        return x * 2
