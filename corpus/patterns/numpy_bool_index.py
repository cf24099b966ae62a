"""NumPy array boolean selection then .sum().

Expected: same NumPy scalar/array.
Sound rewrite: yes for the reduction form (np.where(mask, a, 0).sum()); otherwise
capture_dynamic_output_shape_ops.
Seen in: https://github.com/pytorch/pytorch/issues/105266 (compiled NumPy boolean index)
"""

import numpy as np


def pick_sum(z, keep):
    return (z[keep] * 2).sum()


def make():
    z = np.arange(6, dtype=np.float64)
    return pick_sum, [(z, z % 2 == 0), (z, z > 99)]
