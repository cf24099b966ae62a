"""Whole-step skip: `if not found_inf.item(): p.add_(...)` in-place on parameters under no_grad;
else branch bumps a skip counter buffer.

Expected: parameters untouched and counter +1 on inf; updated and counter unchanged otherwise.
Sound rewrite: yes - p.copy_(where(found, p, p + d)); TRAP: computing p + found*d propagates
inf/nan (0*inf = nan).
Seen in: https://github.com/pytorch/pytorch/issues/138412 (found_inf / item in the scaler step)
"""

import torch
from torch import nn


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))
        self.register_buffer("skipped", torch.zeros((), dtype=torch.long))

    @torch.no_grad()
    def forward(self, grad, lr: float):
        found = (~torch.isfinite(grad)).any()
        if not found.item():
            self.w.add_(grad, alpha=-lr)
        else:
            self.skipped += 1
        return self.w.sum()


def make():
    return Step(), [
        (torch.tensor([1.0, 2.0, 3.0]), 0.1),
        (torch.tensor([1.0, float("inf"), 3.0]), 0.1),
        (torch.tensor([0.0, 1.0, 0.0]), 0.1),
    ]
