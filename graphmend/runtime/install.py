"""Attach the Dynamo part when the program imports torch._dynamo, and not before."""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
import types
from collections.abc import Sequence

from graphmend.runtime import status

_DYNAMO = "torch._dynamo"
_lock = threading.RLock()


def install() -> None:
    """Attach now when torch._dynamo is loaded, else as soon as it has been."""
    with _lock:
        if status.state() != status.WAITING:
            return
        module = sys.modules.get(_DYNAMO)
        if module is not None and not _is_initialising(module):
            _attach()
        elif not any(isinstance(finder, _DynamoFinder) for finder in sys.meta_path):
            sys.meta_path.insert(0, _DynamoFinder())


def _is_initialising(module: types.ModuleType) -> bool:
    return bool(getattr(module.__spec__, "_initializing", False))


def _attach() -> None:
    with _lock:
        if status.state() != status.WAITING:
            return
        status.set_state(status.INSTALLED)
        try:
            from graphmend.runtime import internals

            internals.patch()
        except Exception as error:  # an unknown torch: fail open, the breaks stay
            status.fail(f"{type(error).__name__}: {error}")


class _DynamoFinder(importlib.abc.MetaPathFinder):
    """Finds torch._dynamo as everybody else does, and attaches once it has run."""

    def __init__(self) -> None:
        self._busy = threading.local()

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _DYNAMO or getattr(self._busy, "here", False):
            return None
        self._busy.here = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._busy.here = False
        if spec is None or spec.loader is None:
            return None
        spec.loader = _AttachingLoader(spec.loader)
        return spec


class _AttachingLoader(importlib.abc.Loader):
    """Delegates everything to the real loader; attaches after the module's code has run."""

    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, _DynamoFinder)]
        _attach()
