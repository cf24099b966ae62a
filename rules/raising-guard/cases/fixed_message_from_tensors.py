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
# output
import torch
from torch import nn
from graphmend.runtime import deferred_check


@deferred_check
def _forward_check(boxes_any, boxes, index):
    if boxes_any:
        bad = boxes[(boxes[:, 2:] <= 0).any(dim=1)][0].tolist()
        raise ValueError(f"boxes need positive size; found {bad} in target {index}")


class Net(nn.Module):
    def forward(self, boxes, index: int):
        # Width and height, not the far corner.
        _forward_check((boxes[:, 2:] <= 0).any(), boxes, index)
        return boxes * 2


def make():
    good, bad = torch.ones(2, 4), torch.tensor([[1.0, 1, 1, 1], [2, 2, 0, 2]])
    return Net(), [(good, 0), (bad, 1)]
