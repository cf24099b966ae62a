"""Conditional expression over a tensor reduction choosing between two Python floats.

Expected: /1.0 for already-normalised input, /255.0 otherwise; bit-equal to eager; dtype stays
float32.
Sound rewrite: yes - torch.where(cond, 1.0, 255.0) (watch result dtype: 0-d float32 tensor vs
Python float, float64 input must stay float64).
Seen in: https://github.com/kornia/kornia/pull/3791 (apply_colormap)
"""

import torch


def to_unit(img):
    peak = 1.0 if img.max() <= 1.0 else 255.0
    return (img / peak).clamp(0.0, 1.0)


def make():
    torch.manual_seed(0)
    a = torch.rand(3, 4, 4)
    b = (torch.rand(3, 4, 4) * 255).round()
    b[0, 0, 0] = 200.0
    return to_unit, [(a,), (b,), (b.double(),)]
