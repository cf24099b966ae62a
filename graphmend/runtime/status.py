"""Whether deferral works in this process, and why not."""

import dataclasses
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
    global _state, _reason
    if _state == FAILED:
        return
    _state, _reason = FAILED, reason
    warnings.warn(
        f"graphmend: deferred calls run in place and break the graph with this torch: {reason}",
        RuntimeWarning,
        stacklevel=2,
    )


def note_refusal(place: tuple[str, int], reason: str) -> None:
    """Remember why the deferred call at `place` ran in place."""
    _refused[place] = reason
