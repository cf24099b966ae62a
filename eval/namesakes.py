"""Modules that are loaded one after the other under one name."""

from __future__ import annotations

import sys
import types

from torch._dynamo import symbolic_convert


def register(module: types.ModuleType) -> None:
    """Put a module where imports find it, in place of an earlier one of its name.

    TorchDynamo keeps what it finds under a name, also in the globals of whatever calls into it.
    """
    name = module.__name__
    sys.modules[name] = module
    symbolic_convert._import_module.cache_clear()
    for other in [m for m in sys.modules.values() if isinstance(m, types.ModuleType)]:
        other.__dict__.pop(f"__import_{name}", None)
