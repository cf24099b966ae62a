"""Code already uses torch._assert_async(cond, msg).

Expected: unchanged by the tool; RuntimeError with the message (eager type is already
RuntimeError).
Sound rewrite: not needed (regression: leave alone).
Seen in: https://github.com/kornia/kornia/pull/3794 (torch._assert_async as replacement) ;
https://github.com/pytorch/pytorch/issues/131491
"""

import torch


def guarded(img, gamma):
    torch._assert_async((gamma >= 0).all(), "gamma must be non-negative")
    return img.pow(gamma)


def make():
    img = torch.tensor([0.2, 0.4])
    return guarded, [(img, torch.tensor([2.0])), (img, torch.tensor([-2.0]))]
