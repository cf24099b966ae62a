"""Whether deferral and selection work under this torch, and what it means where they do not."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import torch

from graphmend import runtime
from graphmend.runtime import status


@dataclass(frozen=True, slots=True)
class State:
    """`works`, and in words: how many internals were checked, or which one is not as expected."""

    works: bool
    text: str


@runtime.deferred_effect
def _nothing(value: object) -> None:
    pass


def _program(x: torch.Tensor) -> torch.Tensor:
    _nothing(x.sum())
    return x + 1


def wake() -> State:
    """Have the probes run, in a compile of a small program; its warning becomes the answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.compile(_program, backend="eager")(torch.ones(1))
    return state()


def state() -> State:
    """The state of the runtime in this process."""
    found = runtime.deferral_status()
    if found.state == status.VERIFIED and found.reason is None:
        from graphmend.runtime.internals import PATCHED
        from graphmend.runtime.probes import READ

        count = len(PATCHED) + len(READ)
        return State(True, f"works; {count} internals of torch._dynamo are as expected")
    return State(False, f"off: {found.reason or found.state}{_use(found.reason or '')}")


def _use(reason: str) -> str:
    """What the internal that `reason` names is for, where it is one of those with a probe."""
    try:
        from graphmend.runtime.internals import PATCHED
        from graphmend.runtime.probes import READ
    except Exception:  # what cannot be imported is the reason itself
        return ""
    for internal in sorted((*PATCHED, *READ), key=lambda i: len(i.name), reverse=True):
        if reason.startswith(internal.name):
            return f" (needed for: {internal.use})"
    return ""
