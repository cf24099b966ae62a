"""Bounded for-loop with `if not mask.any(): break`; break inside loop makes Dynamo skip/split the
frame.

Expected: identical distance map for early-converging, immediately-empty and never-converging
seeds; one graph.
Sound rewrite: yes - carry a `done` flag and predicate the rest of each iteration (here later
iterations are exact no-ops).
Seen in: https://github.com/kornia/kornia/pull/3788 ; reworked in
https://github.com/kornia/kornia/pull/3794
"""

import torch
import torch.nn.functional as F


def grow(seed, steps: int = 5):
    reach = seed
    dist = torch.zeros_like(seed)
    for k in range(1, steps + 1):
        wider = F.max_pool2d(reach, 3, stride=1, padding=1)
        fresh = (wider > 0) & (reach == 0)
        if not fresh.any():
            break
        dist = dist + fresh.to(seed.dtype) * k
        reach = wider
    return dist


def make():
    one = torch.zeros(1, 1, 7, 7)
    one[0, 0, 3, 3] = 1
    corner = torch.zeros(1, 1, 16, 16)
    corner[0, 0, 0, 0] = 1
    return grow, [(one,), (torch.ones(1, 1, 7, 7),), (torch.zeros(1, 1, 7, 7),), (corner,)]
