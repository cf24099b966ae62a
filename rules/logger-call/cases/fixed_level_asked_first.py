# expect: GM202 fixed
import logging

import torch
from torch import nn

logger = logging.getLogger(__name__)


class Net(nn.Module):
    def forward(self, x):
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("largest %s", x.abs().max())
        return x * 2


def make():
    return Net(), [(torch.ones(2, 3),), (torch.zeros(1, 2),)]
# output
import logging

import torch
from torch import nn
from graphmend.runtime import deferred_effect

logger = logging.getLogger(__name__)


@deferred_effect
def _forward_log(x):
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("largest %s", x.abs().max(), stacklevel=2)


class Net(nn.Module):
    def forward(self, x):
        _forward_log(x)
        return x * 2


def make():
    return Net(), [(torch.ones(2, 3),), (torch.zeros(1, 2),)]
