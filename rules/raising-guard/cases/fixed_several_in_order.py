# expect: GM301 fixed
# expect: GM202 fixed
# expect: GM301 fixed
import logging

import torch
from torch import nn

logger = logging.getLogger(__name__)


class Net(nn.Module):
    def forward(self, low, high):
        if (low > high).any():
            raise ValueError("low above high")
        logger.info("bounds are ordered")
        if (high > 1).any():
            raise OverflowError("high above one", high.max().item())
        return low + high


def make():
    zero, one, two = torch.zeros(2), torch.ones(2), torch.full((2,), 2.0)
    return Net(), [(zero, one), (two, one), (zero, two), (two, zero)]
# output
import logging

import torch
from torch import nn
from graphmend.runtime import deferred_check, deferred_effect

logger = logging.getLogger(__name__)


@deferred_check
def _forward_check(low_any):
    if low_any:
        raise ValueError("low above high")


@deferred_effect
def _forward_log():
    logger.info("bounds are ordered", stacklevel=2)


@deferred_check
def _forward_check_2(high_any, high):
    if high_any:
        raise OverflowError("high above one", high.max().item())


class Net(nn.Module):
    def forward(self, low, high):
        _forward_check((low > high).any())
        _forward_log()
        _forward_check_2((high > 1).any(), high)
        return low + high


def make():
    zero, one, two = torch.zeros(2), torch.ones(2), torch.full((2,), 2.0)
    return Net(), [(zero, one), (two, one), (zero, two), (two, zero)]
