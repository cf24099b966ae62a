# expect: GM101 refused: draws random numbers on one side
import torch
import torch.nn.functional as F
from torch import nn


class Noisy(nn.Module):
    def forward(self, x):
        h = x * 2
        if h.abs().max() > 1:
            h = F.dropout(h, 0.1, training=self.training)
        return h + 1
