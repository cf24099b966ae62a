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
