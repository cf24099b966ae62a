"""Loop over named tensors; guard body prints the name and then raises; combines a deferred print
with an assertion.

Expected: print line AND RuntimeError for the first bad name; nothing printed for good input.
Sound rewrite: yes - assertion plus print at the boundary, same order, first failing name only.
Seen in: https://github.com/KellerJordan/modded-nanogpt/issues/268 (loop: if not
isfinite(...).all(): print(...) then raise RuntimeError)
"""

import torch


def checked_update(params, grads, names, lr: float):
    for n, g in zip(names, grads, strict=True):
        if not torch.isfinite(g).all():
            print(f"non-finite gradient: {n}")
            raise RuntimeError(f"non-finite gradient in {n}")
    return [p - lr * g for p, g in zip(params, grads, strict=True)]


def make():
    p = [torch.ones(2), torch.zeros(3)]
    g = [torch.tensor([0.1, 0.2]), torch.tensor([1.0, 2.0, 3.0])]
    bad = [g[0], torch.tensor([1.0, float("nan"), 3.0])]
    bad2 = [torch.tensor([float("inf"), 0.0]), bad[1]]
    names = ["w", "b"]
    return checked_update, [(p, g, names, 0.1), (p, bad, names, 0.1), (p, bad2, names, 0.1)]
