# expect: GM101 fixed
import torch
import torch.nn.functional as F


def mix(x, gate):
    y = F.relu(x) if not (gate > 0).any() else x.sigmoid()
    return y * 2


def make():
    x = torch.tensor([1.0, -1.0])
    return mix, [(x, x), (x, -x.abs())]
# output
import torch
import torch.nn.functional as F
from graphmend.runtime import negated, select


def mix(x, gate):
    y = select(negated((gate > 0).any()), lambda x: F.relu(x), lambda x: x.sigmoid(), x)
    return y * 2


def make():
    x = torch.tensor([1.0, -1.0])
    return mix, [(x, x), (x, -x.abs())]
