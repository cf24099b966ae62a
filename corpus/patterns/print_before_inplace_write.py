"""A printed tensor that is written in place afterwards.

Expected: the value of the moment of the print.
Sound rewrite: yes - with a snapshot taken where the print stood.
"""

import torch


def decay(state):
    print("before", state)
    state.mul_(0.5)
    print("after", state)
    return state.sum()


def make():
    return decay, [(torch.tensor([2.0, 4.0]),), (torch.tensor([1.0]),)]
