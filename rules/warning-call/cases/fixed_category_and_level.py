# expect: GM203 fixed
# expect: GM203 fixed
import warnings

import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, device=None):
        if device is not None:
            warnings.warn("`device` is ignored", FutureWarning, stacklevel=2)
        warnings.warn(f"{x.dim()} dimensions")
        return x * 2


def make():
    return Net(), [(torch.ones(2),), (torch.ones(2, 2), "cpu")]
# output
import warnings

import torch
from torch import nn
from graphmend.runtime import deferred_effect


@deferred_effect
def _forward_warn():
    warnings.warn("`device` is ignored", FutureWarning, stacklevel=3)


@deferred_effect
def _forward_warn_2(x_dim):
    warnings.warn(f"{x_dim} dimensions", stacklevel=2)


class Net(nn.Module):
    def forward(self, x, device=None):
        if device is not None:
            _forward_warn()
        _forward_warn_2(x.dim())
        return x * 2


def make():
    return Net(), [(torch.ones(2),), (torch.ones(2, 2), "cpu")]
