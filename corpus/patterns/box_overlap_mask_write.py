"""Zeros buffer written only where the boxes overlap: area[m] = (dx[m]) * (dy[m]).

Expected: same IoU for disjoint, touching and overlapping pairs; gradients equal.
Sound rewrite: yes - torch.where(m, dx * dy, 0) (both operands elementwise, finite).
Seen in: https://github.com/pytorch/vision/pull/9518 (giou/diou: boolean mask write -> clamp)
"""

import torch

CHECK_GRADS = True


def overlap_loss(a, b):
    left = torch.max(a[:, 0], b[:, 0])
    top = torch.max(a[:, 1], b[:, 1])
    right = torch.min(a[:, 2], b[:, 2])
    low = torch.min(a[:, 3], b[:, 3])
    area = torch.zeros_like(left)
    m = (low > top) & (right > left)
    area[m] = (right[m] - left[m]) * (low[m] - top[m])
    total = (
        (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1]) + (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1]) - area
    )
    return 1 - area / (total + 1e-7)


def make():
    a = torch.tensor([[0.0, 0, 2, 2], [0, 0, 1, 1], [1, 1, 3, 3]], requires_grad=True)
    b = torch.tensor([[1.0, 1, 3, 3], [2, 2, 3, 3], [1, 1, 2, 2]])
    return overlap_loss, [(a, b), (a, b + 10)]
