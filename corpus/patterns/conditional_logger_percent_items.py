"""Min/max taken by .item() first, Python `or` test, then logger.warning with % args.

Expected: warning record with both numbers only when out of range; then computation continues.
Sound rewrite: yes - keep min/max as tensors, defer the logging call behind the flag; format args
become floats at the boundary.
Seen in: https://github.com/devnen/Chatterbox-TTS-Server/issues/128 (mel: "Audio values outside
normalized range: min=..., max=...")
"""

import logging

import torch

log = logging.getLogger("conditional_logger_percent_items")


def mel_like(wave):
    lo, hi = wave.min().item(), wave.max().item()
    if lo < -1.0 or hi > 1.0:
        log.warning("audio outside normalised range: min=%.4f, max=%.4f", lo, hi)
    return torch.log1p(wave.abs())


def make():
    w = torch.tensor([0.5, -0.25, 0.75])
    return mel_like, [(w,), (w * 1.5,), (w - 3,)]
