"""`while time >= -dt / 2` where time and dt are 0-d tensors built from a static step count.

Expected: same trajectory end point for every step count.
Sound rewrite: partial - trip count is tensor-dependent in general (torch while_loop HOP or
decline); only a constant-folding proof allows `for`.
Seen in: https://github.com/huggingface/lerobot/pull/2600 (pi0 / SmolVLA denoise loop)
"""

import torch


def denoise(x, steps: int):
    dt = torch.tensor(-1.0 / steps)
    t = torch.tensor(1.0)
    while t >= -dt / 2:
        x = x + dt * torch.tanh(x) * t
        t = t + dt
    return x


def make():
    torch.manual_seed(0)
    x = torch.randn(3, 4)
    return denoise, [(x, 4), (x, 10)]
