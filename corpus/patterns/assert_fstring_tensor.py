"""Assert with an f-string message that formats tensor values (.item() and :.3f), plus one
constant-message assert.

Expected: AssertionError whose text carries the real minimum/maximum.
Sound rewrite: yes if the message is rebuilt at the boundary from live values; a constant string
baked at trace time is wrong.
Seen in: https://github.com/jaywalnut310/glow-tts/issues/52 (assert torch.min(y.data) >= -1) ;
message loss https://github.com/pytorch/pytorch/issues/131491
"""

import torch


def log_energy(wave):
    assert torch.min(wave) >= -1.0, f"sample below -1: {wave.min().item():.3f}"
    assert torch.max(wave) <= 1.0, "sample above 1"
    frames = wave.unfold(-1, 4, 2)
    return torch.log(frames.pow(2).mean(-1) + 1e-5)


def make():
    torch.manual_seed(0)
    w = torch.rand(1, 16) * 2 - 1
    lo = w.clone()
    lo[0, 3] = -1.75
    hi = w.clone()
    hi[0, 3] = 2.5
    return log_energy, [(w,), (lo,), (hi,)]
