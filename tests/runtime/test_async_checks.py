"""Checks that the graph makes: when it does, what comes out, and where they run in place."""

from __future__ import annotations

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from graphmend.runtime import async_check, deferral_status, deferred_check
from tests.runtime.observe import graphs_of, see


@async_check
def _require(bad, message="bad", *more):
    if bad:
        raise ValueError(message, *more)


@async_check
def _require_all(a, b, c=True, d=True):
    assert (a and b) and (c or not d), "not all"


@deferred_check
def _deferred(bad, x):
    if bad:
        raise IndexError(f"deferred {x.sum()}")


def _good():
    return (torch.ones(3),)


def _bad():
    return (-torch.ones(3),)


def _agree(program, *inputs, graphs: int = 1, dynamic: bool | None = None) -> None:
    """Compiled, call after call, the program shows what it shows eagerly, in so many graphs."""
    assert graphs_of(program, inputs[0]) == graphs
    for backend in ("eager", "aot_eager"):
        torch._dynamo.reset()
        compiled = torch.compile(program, backend=backend, dynamic=dynamic)
        for each in inputs:
            assert see(compiled, each) == see(program, each)


def _refused(part: str) -> bool:
    return any(part in reason for reason in deferral_status().refused.values())


# -- in place ---------------------------------------------------------------------------------


@pytest.mark.semantics("T7", "refused")
def test_a_tensor_of_several_elements():
    def program(x):
        _require(x < 0)
        return x + 1

    _agree(program, _good)
    assert _refused("exactly one element")


def test_too_many_tensors():
    def program(x):
        positive = (x > 0).all()
        _require_all(positive, positive.clone(), positive.clone(), positive.clone())
        return x + 1

    _agree(program, _good, _bad, graphs=2)
    assert _refused("too many tensors")


def test_a_message_with_a_dynamic_size():
    def program(x):
        _require((x < 0).any(), "rows", x.shape[0])
        return x + 1

    _agree(program, _good, _bad, graphs=1)
    _agree(program, _good, lambda: (-torch.ones(5),), dynamic=True)
    assert _refused("not known while tracing")


@pytest.mark.semantics("T7", "refused")
def test_an_exception_that_is_caught():
    def program(x):
        try:
            _require((x < 0).any())
        except ValueError:
            x = x.abs()
        return x + 1

    _agree(program, _good, _bad, graphs=0)


def test_a_list_written_before():
    def program(x, seen):
        seen.append(1)
        _require((x < 0).any())
        return x + 1

    _agree(program, lambda: (torch.ones(3), []), lambda: (-torch.ones(3), []), graphs=2)


@pytest.mark.parametrize("first", [True, False])
def test_a_tensor_written(first):
    def program(x):
        if first:
            x.mul_(2)
        _require((x < 0).any())
        x.add_(1)
        return x * 3

    _agree(program, _good, _bad, graphs=2)
    assert _refused("writes a tensor in place")


def test_a_deferred_check_before_it():
    def program(x, y):
        _deferred((x < 0).any(), x)
        _require((y < 0).any())
        return x + y

    both = [
        lambda a=a, b=b: (torch.ones(3) * a, torch.ones(3) * b) for a in (1, -1) for b in (1, -1)
    ]
    _agree(program, *both, graphs=2)


def test_a_switched_mode():
    def program(x):
        with torch.no_grad():
            _require((x < 0).any())
        return x + 1

    _agree(program, _good, _bad, graphs=2)
    assert torch.is_grad_enabled()


def test_deferral_switched_off(monkeypatch):
    def program(x):
        _require((x < 0).any())
        return x + 1

    monkeypatch.setenv("GRAPHMEND_DEFER", "0")
    _agree(program, _good, _bad, graphs=2)


@pytest.mark.semantics("D12", "refused")
def test_activation_checkpointing_still_trains():
    def block(x):
        _require(torch.isnan(x).any())
        return (x * 2).tanh()

    def program(x):
        return checkpoint(block, x, use_reentrant=False)

    inputs = lambda: (torch.ones(3, requires_grad=True),)  # noqa: E731
    assert see(torch.compile(program, backend="aot_eager"), inputs) == see(program, inputs)


# -- in the graph -----------------------------------------------------------------------------


@pytest.mark.semantics("T7", "legal")
def test_several_tensors_decide():
    def program(x, y):
        _require_all((x > 0).all(), (y > 0).all(), (x > y).any())
        return x + y

    inputs = [
        lambda a=a, b=b: (torch.ones(3) * a, torch.ones(3) * b)
        for a in (1, -1, 2)
        for b in (1, -1, 2)
    ]
    _agree(program, *inputs)


def test_a_flag_known_while_tracing_decides_there():
    def program(x, flag):
        _require(flag, "flag")
        _require((x < 0).any(), "data", 7)
        return x + 1

    inputs = [lambda f=f, s=s: (torch.ones(3) * s, f) for f in (False, True) for s in (1, -1)]
    _agree(program, *inputs)


def test_the_first_of_several_checks_wins_and_other_errors_stay():
    def program(x, ids):
        _require((x < 0).any(), "first")
        _require((x < 1).any(), "second")
        return x[ids]

    ids = torch.tensor([0, 1])
    inputs = [lambda s=s, i=i: (torch.ones(3) * s, i) for s in (1, 0, -1) for i in (ids, ids + 9)]
    for backend in ("eager", "aot_eager", "inductor"):
        torch._dynamo.reset()
        compiled = torch.compile(program, backend=backend, fullgraph=True)
        for each in inputs:
            expected, seen = see(program, each), see(compiled, each)
            if expected.error is not None and expected.error[0] is IndexError:
                assert seen.error is not None and seen.error[0] is not ValueError
            else:
                assert seen == expected


@pytest.mark.semantics("T7", "legal")
def test_gradients_flow_past_a_check():
    def program(x):
        _require(x.sum() < 0)
        return (x * 3).sum()

    _agree(program, lambda: (torch.ones(3, requires_grad=True),), _bad)


def test_a_break_after_the_check_changes_nothing():
    def program(x):
        _require((x < 0).any())
        y = x + 1
        torch._dynamo.graph_break()
        _require((y > 9).any(), "large")
        return y

    _agree(program, _good, _bad, lambda: (torch.ones(3) * 9,), graphs=2)
