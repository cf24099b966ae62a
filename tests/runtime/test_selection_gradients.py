"""Gradients of what was computed before a branch, and is used by one of its sides alone."""

import pytest
import torch
from torch import nn

from graphmend.runtime import deferral_status, select
from tests.runtime.observe import agrees, see


def _branch(predicate, then, otherwise, *values):
    return then(*values) if predicate else otherwise(*values)


def _pair(program):
    return program(_branch), program(select)


def _inputs(*lists):
    return [lambda v=v: (torch.tensor(v, requires_grad=True),) for v in lists]


_TRAPS = [torch.sqrt, torch.log, lambda h: 1 / h, lambda h: h**0.5]
_VALUES = ([1.0, 0.0], [-1.0, -2.0], [0.0, 0.0], [3.0, 1.0], [3.0, 0.0])

# Where the graph breaks, aot_eager itself makes NaN gradients of the others.
_FINITE = ([1.0, 0.5], [3.0, 1.0])


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("trap", _TRAPS)
@pytest.mark.semantics("W4", "legal")
def test_the_untaken_side_gives_no_nan_gradient_to_what_came_before(trap, swapped):
    def program(choose):
        def run(x):
            h = x * 2
            early = trap(h).view(-1) * 3
            sides = (lambda e, h: e * h, lambda e, h: h + 1)
            return choose((h > 3).any(), *(sides[::-1] if swapped else sides), early, h) * 2

        return run

    agrees(*_pair(program), *_inputs(*_VALUES))


@pytest.mark.semantics("W4", "legal")
def test_a_side_may_give_what_came_before_as_it_is():
    def program(choose):
        def run(x):
            h = x * 2
            early = h.log()
            return choose((h > 3).any(), lambda e, h: e, lambda e, h: h, early, h) * 2

        return run

    agrees(*_pair(program), *_inputs(*_VALUES))


@pytest.mark.semantics("W4", "legal")
def test_each_side_may_use_something_of_its_own_and_the_predicate_both():
    def program(choose):
        def run(x):
            h = x * 2
            root, inverse = h.sqrt(), 1 / h
            picked = choose(
                root.sum() > inverse.sum(),
                lambda r, i, h: r.exp() * h,
                lambda r, i, h: i.sin() - h,
                *(root, inverse, h),
            )
            return picked * 2

        return run

    agrees(*_pair(program), *_inputs(*_VALUES))


class _Rectified(nn.Module):
    """The step of an optimiser that a parameter of its own takes part in."""

    def __init__(self, choose, value):
        super().__init__()
        self.choose = choose
        self.decay = nn.Parameter(torch.tensor(value))

    def forward(self, step, update):
        limit = 2 / (1 - self.decay) - 1
        power = self.decay**step
        length = limit - 2 * step * power / (1 - power)

        def then(length, limit, update):
            return update * torch.sqrt((length - 4) * limit / ((limit - 4) * length))

        def otherwise(length, limit, update):
            return update * self.decay

        return self.choose(length > 5.0, then, otherwise, length, limit, update)


@pytest.mark.parametrize("decay", [0.9, 1.0])
@pytest.mark.semantics("W4", "legal")
def test_a_parameter_of_a_module(decay):
    def gradient(choose, step, compiled):
        module = _Rectified(choose, decay)
        run = torch.compile(module, backend="aot_eager", fullgraph=True) if compiled else module
        result = run(torch.tensor(step), torch.tensor([0.5, -2.0]))
        result.sum().backward()
        return result.tolist(), module.decay.grad.item()

    for step in (3.0, 30.0):
        torch._dynamo.reset()
        wanted, got = gradient(_branch, step, False), gradient(select, step, True)
        assert str(got) == str(wanted)


def _used(after):
    """A program in which `after` is done with what one side alone uses."""

    def program(choose):
        def run(x):
            h = x * 2
            early = h.sqrt()
            y = choose((h > 3).any(), lambda e, h: e.sin(), lambda e, h: h + 1, early, h)
            return after(y, early, h)

        return run

    return program


@pytest.mark.parametrize(
    "after",
    [
        lambda y, early, h: y + early,
        lambda y, early, h: (y * 2, early),
        lambda y, early, h: y * early.view(-1).cos(),
    ],
)
@pytest.mark.semantics("W4", "refused")
def test_what_is_used_later_too_keeps_the_branch(after):
    agrees(*_pair(_used(after)), *_inputs(*_FINITE), captured=False)
    assert any("gradient" in reason for reason in deferral_status().refused.values())


def test_what_is_used_later_without_gradients_does_not():
    agrees(*_pair(_used(lambda y, early, h: y + early.detach())), *_inputs(*_VALUES))


def _prepared(prepare, side=torch.sin):
    def program(choose):
        def run(x):
            h = x * 2
            early, more = prepare(h)
            y = choose((h > 3).any(), lambda e, h: side(e), lambda e, h: h + 1, early, h)
            return y * 2 + more

        return run

    return program


def _other_user_between(h):
    root = h.sqrt()
    return root, h.cos()


def _dropped(h):
    root = nn.functional.dropout(h.sqrt(), 0.5)
    return root, 1


def _costly(h):
    return (h.sqrt().unsqueeze(0) @ torch.ones(2, 2)).squeeze(0), 1


def _operand_written(h):
    scale = torch.ones(2)
    root = h.sqrt().detach() / h + scale
    scale.add_(1)
    return root, scale


def _under_autocast(h):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        root = h.sqrt().outer(h).sum(0)
    return root, 1


def _written_itself(h):
    root = h.sin() / h
    root.mul_(2)
    return root, 1


@pytest.mark.parametrize(
    "prepare",
    [_other_user_between, _costly, _operand_written, _under_autocast, _written_itself],
)
@pytest.mark.semantics("W4", "refused")
def test_what_cannot_be_computed_again_keeps_the_branch(prepare):
    agrees(*_pair(_prepared(prepare)), *_inputs(*_FINITE), captured=False)


@pytest.mark.semantics("W7", "refused")
def test_random_numbers_are_not_drawn_again():
    def inputs():
        torch.manual_seed(0)
        return (torch.tensor([3.0, 1.0], requires_grad=True),)

    original, mended = _pair(_prepared(_dropped))
    wanted = see(original, inputs), torch.rand(1)
    torch._dynamo.reset()
    assert (see(torch.compile(mended, backend="eager"), inputs), torch.rand(1)) == wanted
    assert any("gradient" in reason for reason in deferral_status().refused.values())


@pytest.mark.semantics("W4", "refused")
def test_writing_later_what_the_gradient_needs_keeps_the_branch():
    def program(choose):
        def run(x):
            h = x * 2
            early = h.sin() / (h * 2)
            y = choose((h > 3).any(), lambda e, h: e * 2, lambda e, h: h + 1, early, h)
            h.add_(1)
            return y

        return run

    original, mended = _pair(program)
    torch._dynamo.reset()
    compiled = torch.compile(mended, backend="eager")
    for inputs in _inputs(*_FINITE):
        assert see(compiled, inputs).but_places() == see(original, inputs).but_places()
    assert any("in place" in reason for reason in deferral_status().refused.values())
