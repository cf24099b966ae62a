"""Finds and repairs torch.compile graph breaks in Python source.

Names are imported when they are used, so that importing graphmend costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from graphmend.version import __version__

if TYPE_CHECKING:
    from graphmend.api import check_source, fix_source
    from graphmend.hook import install, status, uninstall
    from graphmend.verification.api import verify

__all__ = ["__version__", "check_source", "fix_source", "install", "status", "uninstall", "verify"]

_HOMES = {
    "check_source": "graphmend.api",
    "fix_source": "graphmend.api",
    "install": "graphmend.hook",
    "status": "graphmend.hook",
    "uninstall": "graphmend.hook",
    "verify": "graphmend.verification.api",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
