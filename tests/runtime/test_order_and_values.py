"""Deferred calls: what they show, when, with which values, and what a failing check leaves."""

import logging
import warnings

import pytest
import torch

from graphmend.runtime import deferred_check, deferred_effect
from tests.runtime.guards import deferred_assert, plain_assert
from tests.runtime.observe import agrees, graphs_of, see

logger = logging.getLogger("runtime.values")


@deferred_check
def _require(flag, message, *more):
    if flag:
        raise ValueError(f"{message} {more}")


def _require_in_place(flag, message, *more):
    if flag:
        raise ValueError(f"{message} {more}")


@deferred_effect
def _report(*values, sep=" "):
    print(*values, sep=sep)


def _report_in_place(*values, sep=" "):
    print(*values, sep=sep)


CALLS = ((_require_in_place, _report_in_place), (_require, _report))


def _both(program):
    """The program with the statements in place, and with them deferred."""
    return [program(*calls) for calls in CALLS]


def _ones():
    return (torch.ones(3),)


def _negative_ones():
    return (-torch.ones(3),)


@pytest.mark.semantics("T3", "legal")
@pytest.mark.semantics("D4", "legal")
def test_the_first_failing_check_wins_and_earlier_output_appears():
    def program(require, report):
        def inner(x):
            report("inner", x.sum())
            require((x < 0).any(), "first", x.min())
            return x * 2

        def run(x):
            report("outer")
            y = inner(x)
            report("between", y)
            require((y < 1).any(), "second")
            report("after")
            return y

        return run

    agrees(*_both(program), _ones, _negative_ones, lambda: (torch.zeros(3),))


@pytest.mark.semantics("D4", "legal")
@pytest.mark.semantics("D5", "legal")
def test_loops_repeat_calls_and_skipped_branches_do_not():
    def program(require, report):
        def run(x, n):
            for i in range(n):
                if i == 1:
                    report("skip", i)
                    continue
                x = x + i
                report(i, x)
                require((x > 5).any(), "large", i)
            return x

        return run

    agrees(*_both(program), *[lambda n=n: (torch.ones(2), n) for n in (0, 1, 3, 6)])


@pytest.mark.semantics("D2", "legal")
@pytest.mark.semantics("D13", "legal")
def test_values_are_those_at_the_call():
    def program(require, report):
        def run(x, items):
            y = x * 2
            view = y[0]
            report("before", y, view, items, {"y": y}, f"{x} {y.sum():.2f}")
            y.add_(1)
            x.mul_(3)
            items.append(4)
            report("after", y, view, items, x)
            return y

        return run

    agrees(*_both(program), lambda: (torch.ones(3), [1, 2, 3]))


@pytest.mark.semantics("D13", "legal")
def test_values_of_attributes_are_those_at_the_call():
    def program(require, report):
        def run(x, box):
            report(box["n"], box["items"])
            box["n"] = box["n"] + 1
            box["items"].append(5)
            report(box["n"], box["items"])
            return x + box["n"]

        return run

    agrees(*_both(program), lambda: (torch.ones(3), {"n": 1, "items": [1]}))


@pytest.mark.semantics("T5", "legal")
def test_a_failing_check_leaves_tensors_as_they_were():
    def program(require, report):
        def run(grads, coefficient):
            total = torch.stack([g.norm() for g in grads]).norm()
            grads[0].add_(1)
            require(~torch.isfinite(total), "not finite", total)
            for g in grads:
                g.mul_(coefficient)
            report("done")
            return total

        return run

    def inputs(value):
        return lambda: ([torch.tensor([1.0, value]), torch.ones(2)], torch.tensor(0.5))

    agrees(*_both(program), inputs(2.0), inputs(float("inf")))


@pytest.mark.semantics("T5", "legal")
def test_a_failing_check_leaves_views_and_buffers_as_they_were():
    class Original(torch.nn.Module):
        require = staticmethod(_require_in_place)

        def __init__(self):
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(2)
            self.register_buffer("steps", torch.zeros(()))

        def forward(self, x, cache):
            self.steps += 1
            self.require((x < 0).any(), "negative", self.steps)
            cache[0].copy_(x[0])
            self.require((x > 2).any(), "large")
            self.steps += 10
            return self.norm(x)

    class Mended(Original):
        require = staticmethod(_require)

    cases = []
    for value in (1.0, -1.0, 3.0):
        x = torch.tensor([[1.0, value], [0.5, 0.1]])
        cases.append(x)

    def program(cls):
        def run(x, cache, module):
            return module(x, cache)

        return [lambda x=x: (x.clone(), torch.zeros(2, 2), cls()) for x in cases], run

    original_inputs, run = program(Original)
    mended_inputs, _ = program(Mended)
    for original, mended in zip(original_inputs, mended_inputs, strict=True):
        wanted = see(run, original)
        for backend in ("eager", "aot_eager"):
            torch._dynamo.reset()
            compiled = torch.compile(run, backend=backend, fullgraph=True)
            for _ in range(2):
                assert see(compiled, mended) == wanted


@pytest.mark.semantics("T8", "legal")
def test_writes_to_python_objects_before_a_check_survive_it():
    class Counter:
        def __init__(self):
            self.calls = 0
            self.seen = []

    def program(require, report):
        def run(x, counter):
            counter.calls += 1
            counter.seen.append(counter.calls)
            report("calls", counter.calls)
            require((x < 0).any(), "negative", counter.calls)
            return x + counter.calls

        return run

    agrees(
        *_both(program),
        lambda: (torch.ones(3), Counter()),
        lambda: (-torch.ones(3), Counter()),
    )


@pytest.mark.semantics("T5", "legal")
def test_writes_to_python_objects_after_a_check_do_not_survive_it():
    class Counter:
        def __init__(self):
            self.calls = 0

    def program(require, report):
        def run(x, counter):
            require((x < 0).any(), "negative")
            report("passed")
            counter.calls += 1
            return x + counter.calls

        return run

    agrees(
        *_both(program),
        lambda: (torch.ones(3), Counter()),
        lambda: (-torch.ones(3), Counter()),
    )


def test_an_object_is_passed_as_it_is():
    class Config:
        def __init__(self):
            self.name = "small"

        def __repr__(self):
            return self.name

    def program(require, report):
        def run(x, config):
            y = x + 1
            report(config, y.sum())
            require((y < 0).any(), config.name, config)
            return y

        return run

    cases = [lambda s=s: (s * torch.ones(3), Config()) for s in (1, -3)]
    agrees(*_both(program), *cases)


@pytest.mark.semantics("D9", "legal")
def test_a_constant_report_before_an_operator_that_may_fail():
    def program(require, report):
        def run(weight, ids):
            report("embedding")
            return torch.nn.functional.embedding(ids, weight)

        return run

    good, bad = (lambda i=i: (torch.ones(3, 2), torch.tensor(i)) for i in ([0, 2], [0, 9]))
    agrees(*_both(program), good)
    original, mended = _both(program)
    for backend in ("eager", "aot_eager"):
        torch._dynamo.reset()
        seen = see(torch.compile(mended, backend=backend, fullgraph=True), bad)
        assert seen.text == see(original, bad).text == "embedding\n"
        assert seen.error[0] is IndexError


@pytest.mark.semantics("D9", "legal")
def test_a_constant_report_between_operators_that_may_fail():
    def program(require, report):
        def run(weight, first, second):
            a = torch.nn.functional.embedding(first, weight)
            report("between", [1, 2], sep=":")
            b = torch.nn.functional.embedding(second, weight)
            report("end", sep="!")
            return a + b

        return run

    def inputs(first, second):
        return lambda: (torch.ones(3, 2), torch.tensor(first), torch.tensor(second))

    agrees(*_both(program), inputs([0], [1]))
    original, mended = _both(program)
    for backend in ("eager", "aot_eager"):
        torch._dynamo.reset()
        compiled = torch.compile(mended, backend=backend, fullgraph=True)
        for bad in (inputs([9], [0]), inputs([0], [9]), inputs([9], [9])):
            seen = see(compiled, bad)
            assert seen.text == see(original, bad).text
            assert seen.error[0] is IndexError


@pytest.mark.semantics("T6", "legal")
def test_operators_with_positions_counted_from_shapes_do_not_keep_calls_in_place():
    def program(require, report):
        def run(x, weight):
            require((x < 0).any(), "negative")
            report(x.sum())
            positions = torch.arange(x.shape[0]).unsqueeze(0)
            y = torch.nn.functional.embedding(positions, weight)[0]
            best = x.argmax()
            steps = (torch.arange(x.shape[0]).float().log2().clamp(min=0) * 0.5).long()
            y0 = torch.nn.functional.embedding(torch.min(steps, torch.full_like(steps, 2)), weight)
            return y + y0 + x.gather(0, best.unsqueeze(0)) + x[x.topk(2).indices].sum()

        return run

    agrees(*_both(program), lambda: (torch.arange(3.0), torch.ones(3, 2)))


def test_a_check_on_python_values_raises_while_tracing_as_before():
    def program(require, report):
        def run(x, n):
            require(n > 2, "too many", n)
            return x + n

        return run

    original, mended = _both(program)
    agrees(original, mended, lambda: (torch.ones(3), 1))
    assert graphs_of(mended, lambda: (torch.ones(3), 5)) == graphs_of(
        original, lambda: (torch.ones(3), 5)
    )
    assert see(torch.compile(mended, backend="eager"), lambda: (torch.ones(3), 5)).error == (
        ValueError,
        "too many (5,)",
        ("too many (5,)",),
    )


@deferred_check
def _finite_half(is_half, flag, message):
    if is_half and flag:
        raise ValueError(message)


def _finite_half_in_place(is_half, flag, message):
    if is_half and flag:
        raise ValueError(message)


@pytest.mark.semantics("P4", "legal")
def test_a_static_conjunct_folds():
    def program(check):
        def run(x):
            check(x.dtype == torch.float16, torch.isinf(x).any(), "overflow")
            return x + 1

        return run

    inf = torch.tensor([1.0, float("inf")])
    agrees(
        program(_finite_half_in_place),
        program(_finite_half),
        lambda: (inf,),
        lambda: (inf.half(),),
        lambda: (torch.ones(2).half(),),
    )


@pytest.mark.semantics("T1", "legal")
def test_an_assertion_stays_an_assertion_error():
    def program(check):
        def run(x):
            check((x > 0).all())
            return x + 1

        return run

    agrees(program(plain_assert), program(deferred_assert), _ones, _negative_ones)


class Custom(Exception):
    def __init__(self, code, value):
        super().__init__(code, value)


@deferred_check
def _custom(flag, code, x):
    if flag:
        row = torch.where(x < 0)[0][0]
        raise Custom(code, row.item()) from KeyError("cause")


@pytest.mark.semantics("T2", "legal")
@pytest.mark.semantics("T5", "legal")
def test_custom_exceptions_keep_arguments_and_cause():
    def program(x):
        _custom((x < 0).any(), 3, x)
        return x + 1

    compiled = torch.compile(program, backend="aot_eager", fullgraph=True)
    x = torch.tensor([1.0, -1.0])
    with pytest.raises(Custom) as caught:
        compiled(x)
    assert caught.value.args == (3, 1)
    assert caught.value.__cause__.args == ("cause",)
    assert any("end of the compiled region" in note for note in caught.value.__notes__)


def test_a_region_with_no_operator_still_runs_its_calls():
    def program(require, report):
        def run(flag, n):
            report("flag", n)
            require(flag, "set")
            return n

        return run

    agrees(
        *_both(program),
        lambda: (torch.tensor(False), 3),
        lambda: (torch.tensor(True), 3),
    )


@pytest.mark.semantics("D4", "legal")
def test_calls_before_and_after_a_graph_break():
    def program(require, report):
        def run(x):
            x = x + 1
            report("one", x)
            require((x < 0).any(), "before")
            torch._dynamo.graph_break()
            x = x * 2
            report("two", x)
            require((x > 5).any(), "after")
            return x

        return run

    original, mended = _both(program)
    for value in (1.0, -3.0, 5.0):
        for backend in ("eager", "aot_eager"):
            torch._dynamo.reset()
            inputs = lambda value=value: (torch.full((2,), value),)  # noqa: E731
            assert see(torch.compile(mended, backend=backend), inputs) == see(mended, inputs)
    assert graphs_of(mended, _ones) == 2


def test_sizes_that_change_from_call_to_call():
    def program(require, report):
        def run(x):
            report(x.shape, x.shape[0], x.shape[0] * 2.5, x.sum())
            require((x < 0).any(), "negative", x.shape[0])
            return x + 1

        return run

    agrees(*_both(program), *[lambda n=n: (torch.ones(n),) for n in (2, 3, 4, 7)])


def test_numbers_read_from_tensors():
    @deferred_effect
    def show(number):
        print(f"{number}")

    def program(x):
        show(x.sum().item())
        return x + 1

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        for _ in range(2):
            compiled = torch.compile(program, backend="eager", fullgraph=True)
            assert see(compiled, _ones) == see(program, _ones)


@pytest.mark.semantics("D11", "legal")
def test_the_gradient_does_not_pass_through_a_report():
    def program(require, report):
        def run(x):
            y = x * 3
            mean = (x - x).sqrt().mean()
            report(f"{mean}", f"{y.sum():.2f}")
            require(mean > 1, "large")
            return y

        return run

    agrees(*_both(program), lambda: (torch.ones(3, requires_grad=True),))


@pytest.mark.semantics("D11", "legal")
def test_parameters_print_as_they_are():
    def program(require, report):
        def run(x, weight):
            report(weight)
            return x * weight

        return run

    agrees(*_both(program), lambda: (torch.ones(2), torch.ones(2, requires_grad=True)))


@pytest.mark.semantics("D1", "legal")
def test_warnings_and_records_from_one_region():
    @deferred_effect
    def warn(message):
        warnings.warn(message, stacklevel=2)
        logger.warning("logged %s", message, stacklevel=2)

    def warn_in_place(message):
        warnings.warn(message, stacklevel=2)
        logger.warning("logged %s", message, stacklevel=2)

    def program(report):
        def run(x):
            for i in range(2):
                report(f"step {i}")
                x = x + 1
            return x

        return run

    agrees(program(warn_in_place), program(warn), _ones)
