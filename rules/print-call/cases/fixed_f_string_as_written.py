# expect: GM201 fixed
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        rows = x.shape[0]
        print(f'{rows=} {x.dtype!s:>16} "quoted" {x.sum().item():.3f}')
        return x * 2


def make():
    return Net(), [(torch.ones(2),), (torch.arange(3.0),)]
