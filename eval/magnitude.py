"""How far apart the outputs of two arms are, for a row in which they differ."""

from __future__ import annotations

from pathlib import Path

_SHOWN = 5


def largest_differences(reference: Path, measured: Path) -> list[str]:
    """The first few tensors that differ, with the largest absolute difference of each.

    Both files hold a list of dicts, call by call, from path to tensor. OSError where one is
    missing.
    """
    import torch

    lines = []
    pairs = zip(torch.load(reference), torch.load(measured), strict=True)
    for call, (one, other) in enumerate(pairs):
        for path in one.keys() & other.keys():
            a, b = one[path], other[path]
            if a.shape != b.shape or a.dtype != b.dtype:
                lines.append(
                    f"call {call}, {path}: {a.dtype}{list(a.shape)}, {b.dtype}{list(b.shape)}"
                )
            elif not torch.equal(a.nan_to_num(), b.nan_to_num()) or not torch.equal(
                a.isnan(), b.isnan()
            ):
                gap = (a.nan_to_num().double() - b.nan_to_num().double()).abs().max().item()
                lines.append(f"call {call}, {path}: up to {gap:.3g}")
    return lines[:_SHOWN]
