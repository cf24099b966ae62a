"""Branches as selections: one graph where that cannot be told, the branch where it can."""

import pytest
import torch

from graphmend.runtime import both, deferral_status, either, negated, select
from tests.runtime.observe import agrees, see


def _branch(predicate, then, otherwise, *values):
    return then(*values) if predicate else otherwise(*values)


def _pair(program):
    """The program with branches, and with selections."""
    return program(_branch), program(select)


def _inputs(*lists, grad=False):
    return [lambda v=v: (torch.tensor(v, requires_grad=grad),) for v in lists]


def _same(x):
    return x


def _clamped(x):
    return x.clamp(-1, 1)


def _root(x):
    return x.sqrt()


def _over(then, otherwise=_same, test=lambda h: (h > 2).any()):
    """A program that branches over an intermediate value."""

    def program(choose):
        def run(x):
            h = x * 2
            h = choose(test(h), then, otherwise, h)
            return h + 1

        return run

    return _pair(program)


_VALUES = ([1.0, 2.0], [-1.0, -2.0], [float("nan"), 0.0], [float("inf"), -0.5], [0.0, 0.0])


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize(
    "test",
    [
        lambda h: torch.isinf(h).any(),
        lambda h: h.sum(),
        lambda h: (h > 2).any().view(1, 1),
        lambda h: (h > 2).sum(),
    ],
    ids=["bool", "float, where NaN is true", "one element", "integer"],
)
@pytest.mark.semantics("P2", "legal")
@pytest.mark.semantics("P3", "legal")
def test_a_predicate_is_true_as_in_python(test, grad):
    agrees(*_over(_clamped, test=test), *_inputs(*_VALUES, grad=grad))


@pytest.mark.parametrize("values", [[1.0, 2.0], []])
@pytest.mark.semantics("P1", "refused")
def test_a_predicate_without_a_truth_value_raises(values):
    agrees(*_over(_clamped, test=lambda h: h > 2), *_inputs(values), captured=False)


@pytest.mark.semantics("P6", "legal")
def test_a_flag_stays_a_python_branch():
    def program(choose):
        def run(x, flag):
            return choose(flag, _clamped, _root, x) + 1

        return run

    cases = [lambda f=flag: (torch.ones(2) * 3, f) for flag in (True, False, None, 0)]
    agrees(*_pair(program), *cases)


@pytest.mark.semantics("P4", "legal")
def test_predicates_combine_as_truth_values():
    def program(choose, disjunction, conjunction, negation):
        def run(x):
            h = x * 2
            is_half = h.dtype == torch.float16
            h = choose(disjunction(is_half, h.max() > 3, h.sum()), _clamped, _same, h)
            h = choose(conjunction(not is_half, h.max(), negation(h.min())), _root, _same, h)
            h = choose(disjunction(not is_half, h > 2), _clamped, _same, h)
            return h + 1

        return run

    def plain_or(*operands):
        return any(bool(o) for o in operands)

    def plain_and(*operands):
        return all(bool(o) for o in operands)

    original = program(_branch, plain_or, plain_and, lambda o: not o)
    agrees(original, program(select, either, both, negated), *_inputs(*_VALUES))


@pytest.mark.parametrize(
    "side",
    [
        lambda h: torch.nn.functional.dropout(h, 0.0),
        lambda h: h + torch.rand(2),
        lambda h: h.index_select(0, h.abs().to(torch.int64).clamp(max=1)),
        lambda h: h.add_(1),
        lambda h: h[:1].mul_(2) + h,
        lambda h: h.to(torch.float64),
        lambda h: h[None],
        lambda h: h[:1].expand(2),
        lambda h: None,
        lambda h: h.nonzero().sum() + h,
        lambda h: 1.0,
        lambda h: h.detach(),
    ],
    ids=[
        *("dropout", "random numbers", "index", "in place", "in place by a view", "dtype", "shape"),
        *("stride", "None", "sizes from data", "number", "no gradient"),
    ],
)
@pytest.mark.semantics("W1", "refused")
@pytest.mark.semantics("W2", "refused")
@pytest.mark.semantics("W3", "refused")
@pytest.mark.semantics("W6", "refused")
@pytest.mark.semantics("W7", "refused")
def test_a_side_that_shows_keeps_the_branch(side):
    def program(choose):
        def run(x):
            torch.manual_seed(0)
            h = x * 2
            value, more = choose((h > 3).any(), lambda h: (side(h), h + 1), lambda h: (h * 2, h), h)
            return more + 1 if value is None else value * more

        return run

    agrees(*_pair(program), *_inputs([1.0, 0.5], [1.0, 2.0], grad=True), captured=False)


@pytest.mark.parametrize("trap", [torch.sqrt, torch.log, lambda h: 1 / h, lambda h: h**0.5])
@pytest.mark.semantics("W4", "legal")
def test_the_untaken_side_gives_no_nan_gradient(trap):
    values = ([1.0, 0.0], [-1.0, -2.0], [0.0, 0.0], [3.0, 1.0])
    agrees(*_over(trap, torch.sin), *_inputs(*values, grad=True))
    agrees(*_over(torch.sin, trap), *_inputs(*values, grad=True))


@pytest.mark.semantics("W13", "refused")
def test_a_tensor_that_one_side_alone_uses_gets_no_gradient_from_the_other():
    def program(choose):
        def run(x, w):
            h = x * 2
            return choose((h > 3).any(), lambda h, w: h * w, lambda h, w: h + 1, h, w)

        return run

    cases = [lambda v=v: (torch.ones(2) * v, torch.ones(2, requires_grad=True)) for v in (1, 2)]
    agrees(*_pair(program), *cases, captured=False)


@pytest.mark.semantics("W9", "refused")
def test_a_result_that_may_be_an_input_keeps_the_branch():
    def program(choose):
        def run(x):
            return choose((x > 3).any(), _clamped, _same, x)

        return run

    original, mended = _pair(program)
    agrees(original, mended, *_inputs([1.0, 2.0], [4.0, 2.0]), captured=False)
    torch._dynamo.reset()
    x = torch.ones(2)
    assert torch.compile(mended, backend="eager")(x) is x
    assert any("leaves the region" in reason for reason in deferral_status().refused.values())


@pytest.mark.parametrize("write", ["h", "y", "v"])
@pytest.mark.semantics("W9", "refused")
def test_a_write_after_a_selection_that_aliases_keeps_the_branch(write):
    def program(choose):
        def run(x):
            h = x * 2
            v = h[:1]
            y = choose((h > 3).any(), _clamped, _same, h)
            {"h": h, "y": y, "v": v}[write].add_(1)
            return y + h

        return run

    agrees(*_pair(program), *_inputs([1.0, 1.5], [1.0, 2.0]), captured=False)


@pytest.mark.semantics("W10", "legal")
def test_selections_nest():
    def inner(choose):
        return lambda h: choose((h > 5).any(), _clamped, _root, h)

    def program(choose):
        def run(x):
            h = x * 2
            h = choose((h > 3).any(), inner(choose), torch.sin, h)
            return h + 1

        return run

    cases = _inputs([1.0, 0.5], [2.0, 1.0], [4.0, 1.0], [4.0, -1.0], grad=True)
    agrees(*_pair(program), *cases)


@pytest.mark.parametrize(
    "use, captured",
    [
        (lambda h, n: h * n, True),
        (lambda h, n: h / (n + 1), True),
        (lambda h, n: h + 1 / n, False),
        (lambda h, n: h * int(n), False),
        (lambda h, n: h[: int(n)].sum() + h, False),
    ],
)
def test_numbers_read_on_a_side(use, captured):
    original, mended = _over(lambda h: use(h, h.max().item()))
    inputs = _inputs([1.0, 0.5], [2.0, 1.0])
    for fullgraph in (False, captured):
        torch._dynamo.reset()
        compiled = torch.compile(mended, backend="eager", fullgraph=fullgraph)
        for case in inputs:
            assert see(compiled, case) == see(original, case)
    torch._dynamo.reset()
    seen = see(torch.compile(mended, backend="eager", fullgraph=True), inputs[0])
    assert (seen.error is None) == captured


@pytest.mark.semantics("W9", "refused")
def test_views_of_a_result_that_are_written_keep_the_branch():
    def twins(h):
        y = h * 3
        return y, y.view(2)

    def view_of_source(choose):
        def run(x):
            h = x * 2
            v = h.view(2)
            y = choose((h > 5).any(), lambda h: h * 3, lambda h: h.view(2), h)
            v.add_(1)
            return y

        return run

    def view_of_result(choose):
        def run(x):
            y, z = choose((x > 2).any(), twins, lambda h: (h + 1, h + 2), x * 2)
            y.add_(1)
            return z * 1

        return run

    for program in (view_of_source, view_of_result):
        agrees(*_pair(program), *_inputs([1.0, 2.0], [4.0, 5.0]), captured=False)


def test_an_iterator_from_outside_keeps_the_branch():
    def program(choose):
        def run(x):
            numbers = (number for number in range(1, 5))
            y = choose((x > 2).any(), lambda h, n: h * next(n), lambda h, n: h, x * 2, numbers)
            return y * next(numbers)

        return run

    original, mended = _pair(program)
    torch._dynamo.reset()
    compiled = torch.compile(mended, backend="eager")
    for case in _inputs([1.0, 2.0], [4.0, 5.0]):
        assert see(compiled, case) == see(original, case)
