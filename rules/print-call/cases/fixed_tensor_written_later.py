# expect: GM201 fixed
# expect: GM201 fixed
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        y = x * 1
        print("before", y)
        y.add_(1)
        print("after", y)
        return y


def make():
    return Net(), [(torch.ones(2),), (torch.zeros(3),)]
