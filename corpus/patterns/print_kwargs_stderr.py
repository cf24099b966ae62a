"""Print with sep, end, file=sys.stdout, flush and a starred list of tensors.

Expected: byte-identical text; kwargs preserved.
Sound rewrite: yes - replay the call with the same kwargs (static) and materialised tensors.
Seen in: https://github.com/pytorch/pytorch/pull/190840 (review: print(x, end="") / stacklevel
silently lose kwargs when reordered)
"""

import sys

import torch


def report(a, b):
    pair = [a.sum(), b.sum()]
    print("sums", *pair, sep="|", end=";\n", file=sys.stdout, flush=True)
    return torch.stack(pair).mean()


def make():
    return report, [(torch.ones(2), torch.ones(3)), (torch.zeros(2), torch.ones(1))]
