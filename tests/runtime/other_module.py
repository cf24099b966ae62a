"""A module whose deferred calls are inlined into programs of other modules."""

import logging
import warnings

from graphmend.runtime import deferred_check, deferred_effect

logger = logging.getLogger("runtime.other")
LIMIT = 5


@deferred_effect
def _note(value):
    logger.warning("value %s of %s", value, LIMIT, stacklevel=2)
    warnings.warn("noted", stacklevel=2)


@deferred_check
def _limit(flag):
    if flag:
        raise OverflowError(f"over {LIMIT}")


def step(x):
    _note(x.max())
    _limit((x > LIMIT).any())
    return x + 1
