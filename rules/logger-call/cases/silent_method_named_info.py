import torch
from torch import nn


class Net(nn.Module):
    def info(self, text):
        self.text = text

    def forward(self, x):
        self.info("merely called so")
        return x * 2
