"""@wraps decorator that warns when an old keyword is used and renames it, then calls the traced
function.

Expected: DeprecationWarning once per call with the old keyword; result equal for both keywords;
one graph.
Sound rewrite: yes - the condition is static (keyword presence); the warn call has constant
arguments and can be deferred or hoisted.
Seen in: https://github.com/pytorch/pytorch/issues/135688 (_warnings.warn) ;
https://github.com/pytorch/torchtitan/pull/2684 (warn inside a library wrapper breaks the graph)
"""

import functools
import warnings

import torch


def renamed(old, new):
    def deco(fn):
        @functools.wraps(fn)
        def inner(*args, **kw):
            if old in kw:
                warnings.warn(f"{old} is deprecated, use {new}", DeprecationWarning, stacklevel=2)
                kw[new] = kw.pop(old)
            return fn(*args, **kw)

        return inner

    return deco


@renamed("alpha", "scale")
def scaled(x, scale=1.0):
    return torch.relu(x) * scale


def entry(x, legacy: bool):
    y = x.sin()
    y = scaled(y, alpha=2.0) if legacy else scaled(y, scale=2.0)
    return y + 1


def make():
    return entry, [(torch.tensor([0.5, -1.0]), True), (torch.tensor([0.5, -1.0]), False)]
