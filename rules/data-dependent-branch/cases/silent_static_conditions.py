import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, residual: bool):
        super().__init__()
        self.residual = residual

    def forward(self, x, mask=None):
        if x.dim() == 2 and x.shape[0] > 1:
            x = x.unsqueeze(0)
        if mask is not None:
            x = torch.where(mask, x, 0)
        return x + 1 if self.residual and x.dtype == torch.float32 else x
