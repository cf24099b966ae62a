"""Boolean selection feeding a full reduction: (p[m] - t[m]).abs().mean(), plus
masked_select(...).sum().

Expected: equal within float tolerance (summation order changes); EMPTY mask must stay nan for
mean and 0 for sum.
Sound rewrite: yes up to rounding - where(m, v, 0).sum() / m.sum(); nan/inf in unselected lanes
must not leak.
Seen in: https://github.com/pytorch/pytorch/issues/114220 (boolean masking -> nonzero) ;
/issues/165421 (masked_select)
"""

import torch


def masked_l1(pred, gold, m):
    mean = (pred[m] - gold[m]).abs().mean()
    extra = torch.masked_select(pred, m).sum()
    return mean, extra


def make():
    torch.manual_seed(0)
    p = torch.randn(4, 3)
    g = torch.randn(4, 3)
    m = torch.tensor([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]], dtype=torch.bool)
    bad = p.clone()
    bad[1, 1] = float("nan")
    return masked_l1, [
        (p, g, m),
        (p, g, torch.zeros_like(m)),
        (p, g, torch.ones_like(m)),
        (bad, g, m),
    ]
