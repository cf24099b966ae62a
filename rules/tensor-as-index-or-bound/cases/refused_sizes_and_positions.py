# expect: GM502 refused: no rule keeps this value in the graph
# expect: GM502 refused: no rule keeps this value in the graph
# expect: GM502 refused: no rule keeps this value in the graph
# expect: GM502 refused: no rule keeps this value in the graph
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x: torch.Tensor, shapes: torch.Tensor):
        out = x.new_zeros(x.shape[0])
        start = 0
        for height, width in shapes:
            part = x[:, start : start + height * width]
            part = part.view(x.shape[0], height, width)
            out = out + part.sum((1, 2)) + torch.linspace(0, 1, height).sum()
            start += height * width
        return out + x[x[:, 0].argmax()].sum()


def make():
    return Net(), [(torch.ones(2, 6), torch.tensor([[1, 2], [2, 2]]))]
