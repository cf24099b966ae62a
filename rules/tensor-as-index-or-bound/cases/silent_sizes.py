import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor, ids: torch.Tensor):
        rows = x.shape[0]
        half = torch.div(rows, 2, rounding_mode="trunc")
        part = x.view(rows, -1)[: rows // 2, 1:].reshape(half, -1)
        fill = torch.full((rows, 2), x.max())
        return part, fill.expand(*fill.shape), x[ids], x.max(dim=1)
