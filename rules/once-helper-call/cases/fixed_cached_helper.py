# expect: GM204 fixed
import functools
import logging

import torch
from torch import nn

logger = logging.getLogger(__name__)


@functools.lru_cache(None)
def warn_once(message):
    logger.warning(message)


class Net(nn.Module):
    def forward(self, x, past=None):
        if past is not None:
            warn_once("`past` is deprecated")
        return x * 2


def make():
    one = torch.ones(2)
    return Net(), [(one,), (one, one), (one, one)]
# output
import functools
import logging

import torch
from torch import nn
from graphmend.runtime import deferred_effect

logger = logging.getLogger(__name__)


@functools.lru_cache(None)
def warn_once(message):
    logger.warning(message)


@deferred_effect
def _forward_notice():
    warn_once("`past` is deprecated")


class Net(nn.Module):
    def forward(self, x, past=None):
        if past is not None:
            _forward_notice()
        return x * 2


def make():
    one = torch.ones(2)
    return Net(), [(one,), (one, one), (one, one)]
