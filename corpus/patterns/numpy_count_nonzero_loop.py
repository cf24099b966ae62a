"""NumPy arrays in and out; loop with data-dependent continue on np.count_nonzero, accumulate.

Expected: same array result.
Sound rewrite: partial - np.where selection works for the continue; needs np/torch mapping. Report
at least.
Seen in: https://github.com/pytorch/pytorch/issues/119186 (np.count_nonzero(...) == 1 in a loop,
nothing compiled, no log) ; /issues/105266 (numpy boolean index)
"""

import numpy as np


def singles(rows, weights):
    total = np.zeros(rows.shape[1])
    for i in range(rows.shape[0]):
        if np.count_nonzero(rows[i]) != 1:
            continue
        total = total + rows[i] * weights[i]
    return total


def make():
    r = np.array([[0.0, 1, 0], [1, 1, 0], [0, 0, 2]])
    return singles, [(r, np.array([1.0, 10, 100])), (np.ones((3, 3)), np.array([1.0, 2, 3]))]
