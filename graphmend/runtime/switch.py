"""The user's switch: GRAPHMEND_DEFER=0 runs deferred calls in place, for debugging."""

import os


def is_switched_off() -> bool:
    """Whether the environment asks for deferred calls to run in place."""
    return os.environ.get("GRAPHMEND_DEFER", "1") == "0"
