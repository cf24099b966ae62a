# expect: GM301 fixed
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, boxes, index: int):
        # Width and height, not the far corner.
        if (boxes[:, 2:] <= 0).any():
            bad = boxes[(boxes[:, 2:] <= 0).any(dim=1)][0].tolist()
            raise ValueError(f"boxes need positive size; found {bad} in target {index}")
        return boxes * 2


def make():
    good, bad = torch.ones(2, 4), torch.tensor([[1.0, 1, 1, 1], [2, 2, 0, 2]])
    return Net(), [(good, 0), (bad, 1)]
