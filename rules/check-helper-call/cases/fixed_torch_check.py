# expect: GM303 fixed
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        torch._check_value(bool((x > 0).all()), lambda: f"{x.min().item()} is not positive")
        return x.log()


def make():
    return Net(), [(torch.ones(2),), (-torch.ones(2),)]
