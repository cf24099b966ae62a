# expect: GM202 fixed
# expect: GM202 fixed
# expect: GM202 fixed
import logging

import torch
from torch import nn

logger = logging.getLogger(__name__)


class Net(nn.Module):
    def forward(self, x, mask=None):
        if mask is None:
            logger.warning(
                "no mask: %d positions attend to padding",  # counted before the loss
                x.shape[1],
            )
        logger.info(f"mean {x.mean().item():.3f}", extra={"rows": x.shape[0]})
        logger.log(logging.ERROR, "level by number")
        return x * 2


def make():
    return Net(), [(torch.ones(2, 3),), (torch.zeros(1, 2), torch.ones(1, 2))]
# output
import logging

import torch
from torch import nn
from graphmend.runtime import deferred_effect

logger = logging.getLogger(__name__)


@deferred_effect
def _forward_log(x_shape):
    logger.warning(
        "no mask: %d positions attend to padding",  # counted before the loss
        x_shape,
        stacklevel=2,
    )


@deferred_effect
def _forward_log_2(x_mean, value):
    logger.info(f"mean {x_mean.item():.3f}", extra=value, stacklevel=2)


@deferred_effect
def _forward_log_3():
    logger.log(logging.ERROR, "level by number", stacklevel=2)


class Net(nn.Module):
    def forward(self, x, mask=None):
        if mask is None:
            _forward_log(x.shape[1])
        _forward_log_2(x.mean(), {"rows": x.shape[0]})
        _forward_log_3()
        return x * 2


def make():
    return Net(), [(torch.ones(2, 3),), (torch.zeros(1, 2), torch.ones(1, 2))]
