"""Deferred calls on the sides of a selection: they happen only if their side is taken."""

import logging

import pytest
import torch

from graphmend.runtime import deferred_check, deferred_effect, select
from tests.runtime.observe import agrees

_logger = logging.getLogger("runtime")


@deferred_effect
def _report(*values):
    print(*values)


@deferred_effect
def _warn(value):
    _logger.warning("value %s", value, stacklevel=2)


@deferred_check
def _require(flag, message):
    if flag:
        raise ValueError(message)


def _require_in_place(flag, message):
    if flag:
        raise ValueError(message)


def _branch(predicate, then, otherwise, *values, caches=()):
    return then(*values) if predicate else otherwise(*values)


def _pair(program):
    return program(_branch, print, _require_in_place), program(select, _report, _require)


_CASES = [
    lambda v=v: (torch.tensor(v),)
    for v in ([1.0, 0.5], [2.0, 1.0], [4.0, -1.0], [-1.0, -9.0], [9.0, -9.0])
]


@pytest.mark.semantics("D5", "legal")
@pytest.mark.semantics("W6", "legal")
def test_reports_and_checks_of_a_side():
    def program(choose, report, require):
        def then(h):
            report("then", h.sum())
            require((h < -3).any(), "small")
            report("checked")
            return h * 2

        def otherwise(h):
            report("otherwise")
            return h + 1

        def run(x):
            h = x * 2
            report("before")
            h = choose((h > 3).any(), then, otherwise, h)
            report("after", h)
            return h + 1

        return run

    agrees(*_pair(program), *_CASES)


@pytest.mark.semantics("D5", "legal")
def test_nested_sides():
    def program(choose, report, require):
        def inner(h):
            report("inner", h.max())
            return h

        def then(h):
            h = choose((h > 5).any(), inner, lambda h: h - 1, h)
            report("then")
            return h

        def otherwise(h):
            require((h < -3).any(), "small")
            return h + 1

        def run(x):
            return choose((x * 2 > 3).any(), then, otherwise, x * 2) + 1

        return run

    agrees(*_pair(program), *_CASES)


@pytest.mark.semantics("D10", "legal")
def test_a_record_shows_its_place():
    def then(h):
        _warn(h.sum())
        return h * 2

    def run(x):
        return select((x > 1).any(), then, lambda h: h * 3, x + 1) + 1

    agrees(run, run, *_CASES)


@pytest.mark.semantics("T5", "legal")
def test_what_follows_a_failing_check_does_not_survive():
    def program(choose, report, require):
        def then(h, state):
            state.add_(1)
            require((h < -3).any(), "small")
            state.mul_(2)
            return h * 2

        def run(x, state):
            h = choose((x > 1).any(), then, lambda h, state: h * 3, x * 2, state)
            state.sub_(h)
            return h + 1

        return run

    cases = [lambda c=c: (*c(), torch.ones(2)) for c in _CASES]
    agrees(*_pair(program), *cases)


@pytest.mark.parametrize("names", [("report", "store"), ("store", "report")])
@pytest.mark.semantics("W8", "refused")
def test_a_side_that_reports_and_writes_to_objects_keeps_the_branch(names):
    class State:
        t = None

        def __init__(self):
            self.t = torch.zeros(2)

        def __repr__(self):
            return str(self.t)

    def program(choose, report, require):
        def then(h, state):
            for name in names:
                if name == "store":
                    state.t = h
                else:
                    report(state.t)
            return h * 2

        def run(x, state):
            return choose((x > 1).any(), then, lambda h, state: h * 3, x * 2, state) + 1

        return run

    agrees(*_pair(program), *[lambda c=c: (*c(), State()) for c in _CASES], captured=False)
