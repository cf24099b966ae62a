# expect: GM202 fixed
import logging

import torch
from torch import nn

logger = logging.getLogger(__name__)


def prepare(x, size: int):
    if x.shape[-1] < size:
        logger.warning("padding %d columns to %d", x.shape[-1], size)
        x = nn.functional.pad(x, (0, size - x.shape[-1]))
    return x


class Net(nn.Module):
    def forward(self, x):
        return prepare(x, 4) * 2


def make():
    return Net(), [(torch.ones(2, 3),), (torch.zeros(1, 4),)]
# output
import logging

import torch
from torch import nn
from graphmend.runtime import deferred_effect

logger = logging.getLogger(__name__)


@deferred_effect
def _prepare_log(x_shape, size):
    logger.warning("padding %d columns to %d", x_shape, size, stacklevel=2)


def prepare(x, size: int):
    if x.shape[-1] < size:
        _prepare_log(x.shape[-1], size)
        x = nn.functional.pad(x, (0, size - x.shape[-1]))
    return x


class Net(nn.Module):
    def forward(self, x):
        return prepare(x, 4) * 2


def make():
    return Net(), [(torch.ones(2, 3),), (torch.zeros(1, 4),)]
