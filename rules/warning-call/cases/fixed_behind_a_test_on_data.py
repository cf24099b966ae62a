# expect: GM203 fixed
import warnings

import torch
from torch import nn


class Net(nn.Module):
    def forward(self, bank):
        if (bank.max(dim=0).values == 0.0).any():
            warnings.warn(
                "At least one filter is all zero. "
                f"{bank.shape[1]} filters may be too many."
            )
        return bank * 2


def make():
    return Net(), [(torch.ones(2, 3),), (torch.zeros(2, 3),)]
# output
import warnings

import torch
from torch import nn
from graphmend.runtime import deferred_effect


@deferred_effect
def _forward_warn(values_any, bank):
    if values_any:
        warnings.warn(
            "At least one filter is all zero. "
            f"{bank.shape[1]} filters may be too many.",
            stacklevel=2
        )


class Net(nn.Module):
    def forward(self, bank):
        _forward_warn((bank.max(dim=0).values == 0.0).any(), bank)
        return bank * 2


def make():
    return Net(), [(torch.ones(2, 3),), (torch.zeros(2, 3),)]
