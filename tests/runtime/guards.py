"""Assertions, in a module that pytest does not rewrite."""

import torch

from graphmend.runtime import deferred_check


def plain_assert(flag):
    assert flag, "not so"


@deferred_check
def deferred_assert(flag):
    assert flag, "not so"


@deferred_check
def scripted_check(x: torch.Tensor):
    if bool((x < 0).any()):
        raise ValueError("negative")
