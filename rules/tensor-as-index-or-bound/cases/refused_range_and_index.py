# expect: GM502 refused: no rule keeps this value in the graph
# expect: GM502 refused: no rule keeps this value in the graph
import torch
from torch import nn

SCALES = (0.5, 1.0, 2.0)


class Net(nn.Module):
    def forward(self, x, lengths):
        level = lengths.argmax()
        for step in range(lengths.max()):
            x = x + step
        return x * SCALES[level]


def make():
    return Net(), [(torch.ones(3), torch.tensor([1, 2])), (torch.ones(3), torch.tensor([3, 2]))]
