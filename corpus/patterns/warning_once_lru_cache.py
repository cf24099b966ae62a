"""Module-level lru_cache'd helper bound as logger.warning_once; called from forward under a
static condition.

Expected: exactly ONE record per process for the message, whatever the number of calls; output
equal; one graph.
Sound rewrite: yes - constant argument and static condition: defer the same call (cache semantics
must be kept, i.e. call the cached helper, not logger.warning).
Seen in: https://github.com/tenstorrent/tt-torch/issues/852 ;
https://github.com/pytorch/pytorch/pull/186349 (custom warning_once methods)
"""

import functools
import logging

import torch
from torch import nn

log = logging.getLogger("warning_once_lru_cache")


@functools.lru_cache(None)
def warn_once(msg):
    log.warning(msg)


class Attn(nn.Module):
    def forward(self, q, k, want_weights=False):
        if want_weights:
            warn_once("fused attention cannot return weights; using the slow path")
        w = torch.softmax(q @ k.transpose(-1, -2), dim=-1)
        return (w @ k, w) if want_weights else (w @ k, None)


def make():
    warn_once.cache_clear()
    torch.manual_seed(0)
    q, k = torch.randn(2, 3), torch.randn(2, 3)
    return Attn(), [(q, k, True), (q, k, True), (q, k, False)]
