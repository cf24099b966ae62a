"""Buffer[:, start:start+n] = new, where start is a 0-d tensor held by the module; start advanced
in place.

Expected: same cache, same position counter, same read-out over consecutive calls.
Sound rewrite: yes - start + arange(n) with index_copy_/index_put_ (bounds: Python slice clamps
silently, index raises - guard or decline at the edge).
Seen in: https://github.com/google-research/timesfm/pull/459 (decode cache: slice with tensor
start index)
"""

import torch
from torch import nn


class Cache(nn.Module):
    def __init__(self, cap=8, d=3):
        super().__init__()
        self.register_buffer("store", torch.zeros(1, cap, d))
        self.register_buffer("pos", torch.zeros(1, dtype=torch.long))

    def forward(self, new):
        start = self.pos[0]
        end = start + new.shape[1]
        self.store[:, start:end] = new
        self.pos.add_(new.shape[1])
        return self.store.sum(dim=1)


def make():
    torch.manual_seed(0)
    return Cache(), [(torch.randn(1, 2, 3),), (torch.randn(1, 2, 3),), (torch.randn(1, 3, 3),)]
