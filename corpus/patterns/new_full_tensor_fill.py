"""Hidden host sync: x.new_full(size, fill_tensor) - no .item() in the source text.

Expected: same padded tensor; one graph.
Sound rewrite: yes - fill.to(dtype).expand(size).clone() / torch.where; keeps dtype cast
semantics.
Seen in: https://github.com/pyg-team/pytorch_geometric/pull/7537 (new_full with a tensor fill
value calls item())
"""

import torch


def pad_rows(x, fill, rows: int):
    out = x.new_full((rows, x.shape[1]), fill)
    out[: x.shape[0]] = x
    return out * 2


def make():
    torch.manual_seed(0)
    x = torch.randn(3, 2)
    return pad_rows, [(x, torch.tensor(-1.0), 5), (x, torch.tensor(7), 4)]
