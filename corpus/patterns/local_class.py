"""A small class defined inside the compiled function and instantiated as a value holder.

Expected: same result.
Sound rewrite: yes - hoist the class to module level when it closes over nothing.
Seen in: https://github.com/pytorch/pytorch/issues/128942 (LOAD_BUILD_CLASS) ; /issues/161562
"""

import torch


def boxed(x):
    class Pair:
        def __init__(self, a, b):
            self.a = a
            self.b = b

        def diff(self):
            return self.a - self.b

    p = Pair(x.sin(), x.cos())
    return p.diff() * 2


def make():
    return boxed, [(torch.tensor([0.1, 0.2]),), (torch.tensor([1.0]),)]
