"""What the hook says to the user besides its status."""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType


class HookWarning(UserWarning):
    """Something under the import hook is not as asked for; the program itself runs on."""


def warn(message: str, program: str | None = None) -> None:
    """Warn at the line that asked for the import, or at the head of the main `program`.

    Never raises, so that no import fails by it: where the filters turn warnings into errors, the
    message goes to stderr instead.
    """
    try:
        if program is None:
            warnings.warn(message, HookWarning, stacklevel=_depth_of_user())
        else:
            warnings.warn_explicit(message, HookWarning, program, 1)
    except Warning:
        print(f"graphmend: {message}", file=sys.stderr)


def trace(message: str) -> None:
    """Print a line to stderr if GRAPHMEND_TRACE is set."""
    if os.environ.get("GRAPHMEND_TRACE", "") not in ("", "0"):
        print(f"graphmend: {message}", file=sys.stderr)


def _depth_of_user() -> int:
    """The `stacklevel` (as `warn` must give it) of the frame that asked for the import."""
    frame: FrameType | None = sys._getframe(1)
    depth = 0
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith("importlib._bootstrap"):  # warnings.warn does not count these
            depth += 1
            if not name.startswith(("graphmend.hook", "importlib")):
                return depth
        frame = frame.f_back
    return 2
