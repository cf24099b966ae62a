"""The decorators: they mark a function and return it unchanged."""

import dataclasses
import enum
import types
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_ATTRIBUTE = "__graphmend_deferred__"


class Kind(enum.Enum):
    """A check may raise and guards what follows; an effect only reports.

    The graph itself makes an async check.
    """

    CHECK = "check"
    EFFECT = "effect"
    ASYNC = "async"


@dataclasses.dataclass(frozen=True)
class Mark:
    """The kind of a deferred function, tied to its code.

    `functools.wraps` copies attributes onto wrappers; a wrapper has other code and so is not
    deferred.
    """

    kind: Kind
    code: types.CodeType


marked_code: list[types.CodeType] = []
"""Code of every marked function, so that TorchDynamo can be told to leave their frames alone."""

_listeners: list[Callable[[types.CodeType], None]] = []


def on_marked(listener: Callable[[types.CodeType], None]) -> None:
    """Call `listener` with the code of each function marked so far and from now on."""
    _listeners.append(listener)
    for code in list(marked_code):
        listener(code)


def mark_of(value: object) -> Mark | None:
    """The mark of a deferred function; None for everything else, wrappers of one included."""
    if not isinstance(value, types.FunctionType):
        return None
    mark = value.__dict__.get(_ATTRIBUTE)
    if isinstance(mark, Mark) and mark.code is value.__code__:
        return mark
    return None


def _mark(function: F, kind: Kind) -> F:
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"only a plain function can be deferred, not {type(function).__name__}")
    setattr(function, _ATTRIBUTE, Mark(kind, function.__code__))
    marked_code.append(function.__code__)
    for listener in _listeners:
        listener(function.__code__)
    return function


def deferred_check(function: F) -> F:
    """Mark a module-level function that may raise: the guard of a mended site.

    Called eagerly it is a plain call. Under `torch.compile` the call is recorded and runs after
    the graph, in program order; where that could be told from running in place, it runs in place
    and the graph breaks. Values that decide whether it raises come first among its parameters.
    Returns the function itself.
    """
    return _mark(function, Kind.CHECK)


def async_check(function: F) -> F:
    """Mark a module-level function that raises or does nothing, as its tensor arguments decide.

    Called eagerly it is a plain call. Under `torch.compile` the graph asserts that it would not
    raise, without waiting for the device; where an assert fails on the CPU, the function is called
    for its exception. It must be decided by the truth of its tensor arguments alone; what else it
    takes only shows in the exception. Returns the function itself.
    """
    return _mark(function, Kind.ASYNC)


def deferred_effect(function: F) -> F:
    """Mark a module-level function that only reports (print, a log record, a warning).

    The same as `deferred_check`, for statements that do not guard what follows them.
    """
    return _mark(function, Kind.EFFECT)
