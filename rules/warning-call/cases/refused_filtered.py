# expect: GM203 refused: catch_warnings
import warnings

import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.warn("nobody sees this")
        return x * 2
