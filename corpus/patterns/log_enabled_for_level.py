"""A debug record under isEnabledFor, one with lazy % arguments and one with extra fields.

Expected: the same records, with the same arguments and fields, by the loggers' levels.
Sound rewrite: yes - each call moves as it is; the level is read when it runs.
"""

import logging

import torch

log = logging.getLogger("log_enabled_for_level")


def step(x):
    y = x.exp()
    if log.isEnabledFor(logging.DEBUG):
        log.debug("norm %.3f of %d values", y.norm(), y.numel())
    log.info("step done", extra={"rows": x.shape[0]})
    return y / y.sum()


def make():
    log.setLevel(logging.DEBUG)
    return step, [(torch.tensor([0.1, 0.2]),), (torch.tensor([1.0]),)]
