"""Room for deep recursion: the analyses follow chains of definitions as long as a function is."""

from __future__ import annotations

import contextvars
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

_FRAMES = 50_000
_STACK_BYTES = 512 << 20  # address space; pages are used as far as the recursion goes

_lock = threading.Lock()  # the limit belongs to the whole process: one at a time


def with_deep_stack(work: Callable[[], T]) -> T:
    """Run `work` in a thread of its own with a large stack; its result, or what it raises.

    A few hundred statements in a row are normal in generated and unrolled code. The caller's
    context variables hold in the thread.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # handed on to the caller, whatever it is
            errors.append(error)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True)
    with _lock, _frames():
        before = threading.stack_size(_STACK_BYTES)
        try:
            thread.start()
        finally:
            threading.stack_size(before)
        thread.join()
    if errors:
        raise errors[0]
    return results[0]


@contextmanager
def _frames() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # its holder does not exist in the child


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
