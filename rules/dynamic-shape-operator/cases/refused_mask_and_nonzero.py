# expect: GM401 refused: no rule gives this operator a static shape
# expect: GM401 refused: no rule gives this operator a static shape
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        mask = torch.isfinite(x)
        chosen = x[mask]
        places = torch.nonzero(mask)
        return chosen.mean(), places


def make():
    return Net(), [(torch.tensor([[1.0, float("inf")]]),), (torch.ones(2, 2),)]
