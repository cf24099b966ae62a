"""Static flag `and` torch.logical_or(isnan, isinf); RuntimeError with multi-part f-string; then
in-place scaling of several tensors.

Expected: RuntimeError and NO tensor scaled when flag set and norm non-finite; otherwise all
scaled in place.
Sound rewrite: yes - but the guard precedes in-place writes: after the assertion trips the
caller's tensors must be untouched.
Seen in: https://github.com/pytorch/pytorch/issues/60691 and /pull/53843 (clip_grad_norm_
error_if_nonfinite)
"""

import torch


def clip_(grads, max_norm: float, strict: bool):
    total = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in grads]))
    if strict and torch.logical_or(total.isnan(), total.isinf()):
        raise RuntimeError(
            f"total norm for {len(grads)} tensors is non-finite, so it cannot be clipped; "
            "pass strict=False to scale anyway"
        )
    coef = torch.clamp(max_norm / (total + 1e-6), max=1.0)
    for g in grads:
        g.mul_(coef)
    return total


def make():
    a = torch.tensor([3.0, 4.0])
    b = torch.tensor([0.1])
    bad = torch.tensor([float("inf"), 1.0])
    return clip_, [([a, b], 1.0, True), ([bad, b], 1.0, True), ([bad, b], 1.0, False)]
