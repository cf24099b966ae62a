"""Loop over a list of targets; guard body itself does data-dependent work (torch.where()[0][0],
tolist) to build the f-string with tensor VALUES and the Python loop index.

Expected: ValueError naming the first bad box's coordinates and its target index; valid targets ->
unchanged loss.
Sound rewrite: yes but hard - assertion in-graph, message recomputed lazily at the boundary from
saved tensors; first failing index must win.
Seen in: https://github.com/pytorch/vision/pull/2258 and /issues/8015 (GeneralizedRCNN target
validation)
"""

import torch


def box_loss(pred, targets):
    for i, boxes in enumerate(targets):
        flipped = boxes[:, 2:] <= boxes[:, :2]
        if flipped.any():
            row = torch.where(flipped.any(dim=1))[0][0]
            bad = boxes[row].tolist()
            raise ValueError(f"boxes need positive size; found {bad} in target {i}")
    return sum((pred - b).abs().mean() for b in targets)


def make():
    good = torch.tensor([[0.0, 0, 2, 2], [1, 1, 3, 4]])
    bad = torch.tensor([[0.0, 0, 2, 2], [5, 1, 3, 4]])
    pred = torch.ones(2, 4)
    return box_loss, [(pred, [good, good]), (pred, [good, bad]), (pred, [bad, bad])]
