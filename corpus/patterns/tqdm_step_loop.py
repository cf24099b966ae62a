"""For-loop over tqdm(range(n)) with set_postfix(loss=...item()) inside the function that is
compiled.

Expected: same result; progress bar output on stderr is cosmetic.
Sound rewrite: partial - dropping/deferring the bar changes progress reporting (its purpose is
timing); replace iteration by the underlying range and close the bar after.
Seen in: https://github.com/huggingface/diffusers/pull/5453 (progress_bar around the denoise loop)
"""

import torch
from tqdm import tqdm


def refine(x, steps: int):
    bar = tqdm(range(steps), disable=True)
    for _ in bar:
        x = x - 0.1 * torch.sin(x)
        bar.set_postfix(energy=x.pow(2).sum().item())
    return x


def make():
    return refine, [(torch.tensor([1.0, -2.0]), 3), (torch.tensor([0.5]), 3)]
