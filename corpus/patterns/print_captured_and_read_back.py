"""Printed text that the same function reads back from a buffer.

Expected: the length of the text is part of the result.
Sound rewrite: none by deferring: to be refused.
"""

import contextlib
import io

import torch


def measured(x):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        print("rows", x.shape[0])
    return x.sum() + len(text.getvalue())


def make():
    return measured, [(torch.ones(3),), (torch.ones(12),)]
