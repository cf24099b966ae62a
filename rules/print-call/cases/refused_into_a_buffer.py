# expect: GM201 refused: may be read before the end
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, report):
        print("mean", x.mean(), file=report)
        return x * 2
