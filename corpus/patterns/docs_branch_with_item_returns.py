"""Early return in a branch; both returns add/subtract a Python number obtained by .item().

Expected: same tensors both sides (float32 result; .item() is a Python double).
Sound rewrite: yes - drop .item() (0-d tensor arithmetic with same dtype promotes the same way)
and where. For int tensors + .item() check promotion.
Seen in: https://docs.pytorch.org/docs/stable/compile/programming_model.common_graph_breaks.html
(data-dependent if with .item() in both returns)
"""

import torch


def shift(x):
    s = x.sum()
    if s > 0:
        return x + s.item()
    return x - s.item()


def make():
    return shift, [(torch.tensor([1.0, 2.0]),), (torch.tensor([-1.0, -2.0]),), (torch.zeros(2),)]
