"""Whether deferral works in this process, and why not."""

import dataclasses
import sys
import warnings

WAITING = "waiting"
INSTALLED = "installed"
VERIFIED = "verified"
FAILED = "failed"


@dataclasses.dataclass(frozen=True)
class DeferralStatus:
    """State of deferral in this process.

    `state` is "waiting" (torch._dynamo is not imported yet), "installed", "verified" (checked
    inside a real compile) or "failed" (deferred functions run in place and break the graph).
    `reason` says why it failed. `refused` maps (file, line) of a call that ran in place to the
    reason.
    """

    state: str
    reason: str | None
    refused: dict[tuple[str, int], str]


_state = WAITING
_reason: str | None = None
_refused: dict[tuple[str, int], str] = {}


def deferral_status() -> DeferralStatus:
    """A snapshot of the state of deferral in this process."""
    return DeferralStatus(_state, _reason, dict(_refused))


def state() -> str:
    """The current state, one of the constants of this module."""
    return _state


def set_state(new: str) -> None:
    """Move to `new`; a failure is final."""
    global _state
    if _state != FAILED:
        _state = new


def fail(reason: str) -> None:
    """Give deferral up for this process, with one warning."""
    global _state
    _state = FAILED
    note_error(reason)


def note_error(reason: str) -> None:
    """Remember the first error of this package in this process, with one warning."""
    global _reason
    if _reason is not None:
        return
    _reason = reason
    text = f"graphmend: deferred calls run in place and break the graph: {reason}"
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    except RuntimeWarning:  # an error by the user's filters, but never that of an import or a trace
        print(text, file=sys.stderr)


def note_refusal(place: tuple[str, int], reason: str) -> None:
    """Remember why the deferred call at `place` ran in place."""
    _refused[place] = reason
