"""The import hook: modules of named packages are mended as they load."""

from __future__ import annotations

from graphmend.hook.finder import Installation, install, status, uninstall
from graphmend.hook.record import HookStatus
from graphmend.hook.warn import HookWarning

__all__ = ["HookStatus", "HookWarning", "Installation", "install", "status", "uninstall"]
