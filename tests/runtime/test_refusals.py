"""Calls that must run in place: deferring them could be told from the original."""

import contextlib
import logging
import os
import warnings

import pytest
import torch

from graphmend.runtime import deferral_status, deferred_check, deferred_effect
from tests.runtime.observe import agrees, graphs_of, see

logger = logging.getLogger("runtime.refusals")


@deferred_check
def _require(flag, message, *more):
    if flag:
        raise ValueError(f"{message} {more}")


@deferred_effect
def _report(*values):
    print(*values)


@deferred_effect
def _report_beside_a_comparison(value, limit):
    print(value, limit == 3)


def _good():
    return (torch.ones(3),)


def _bad():
    return (-torch.ones(3),)


def _negative(x):
    return (x < 0).any()


@pytest.mark.semantics("T4", "refused")
def test_a_check_whose_exception_is_caught():
    def original(x):
        try:
            if _negative(x):
                raise ValueError("negative ()")
        except ValueError:
            x = x.abs()
        return x + 1

    def mended(x):
        try:
            _require(_negative(x), "negative")
        except ValueError:
            x = x.abs()
        return x + 1

    agrees(original, mended, _good, _bad, captured=False)


@pytest.mark.semantics("T4", "refused")
def test_a_check_whose_exception_a_caller_catches():
    def guarded(x):
        if _negative(x):
            raise ValueError("negative ()")
        return x * 2

    def guarded_mended(x):
        _require(_negative(x), "negative")
        return x * 2

    def program(step):
        def run(x):
            try:
                return step(x + 1 - 1)
            except ValueError as error:
                return x.sum() + len(str(error))

        return run

    agrees(program(guarded), program(guarded_mended), _good, _bad, captured=False)


@pytest.mark.semantics("T4", "refused")
def test_a_check_inside_suppress():
    def original(x):
        with contextlib.suppress(ValueError):
            if _negative(x):
                raise ValueError("negative ()")
            x = x * 2
        return x + 1

    def mended(x):
        with contextlib.suppress(ValueError):
            _require(_negative(x), "negative")
            x = x * 2
        return x + 1

    agrees(original, mended, _good, _bad, captured=False)


@pytest.mark.semantics("T4", "refused")
def test_a_check_in_a_getattr_protocol():
    class Original:
        def __init__(self, x):
            self.x = x

        def __getattr__(self, name):
            if _negative(self.x):
                raise AttributeError(name)
            return self.x + 1

    @deferred_check
    def missing(flag, name):
        if flag:
            raise AttributeError(name)

    class Mended:
        def __init__(self, x):
            self.x = x

        def __getattr__(self, name):
            missing(_negative(self.x), name)
            return self.x + 1

    def program(box):
        return lambda x: getattr(box(x), "value", x * 0) + 1

    assert graphs_of(program(Mended), _bad) == graphs_of(program(Original), _bad)
    for inputs in (_good, _bad):
        compiled = torch.compile(program(Mended), backend="eager")
        assert see(compiled, inputs) == see(program(Original), inputs)


@pytest.mark.semantics("D14", "refused")
@pytest.mark.semantics("D15", "refused")
def test_an_effect_whose_output_is_redirected():
    def program(report):
        def run(x):
            with contextlib.redirect_stdout(open(os.devnull, "w")) as null:
                report(x.sum())
            null.close()
            return x + 1

        return run

    agrees(program(print), program(_report), _good, captured=False)


@pytest.mark.semantics("D9", "refused")
def test_a_report_in_a_finally_block_after_an_operator_that_fails():
    def program(report):
        def run(x, i):
            try:
                y = x + (i // i).sum()
            finally:
                report("finally")
            return y

        return run

    good, bad = (lambda i=i: (torch.ones(3), torch.tensor(i)) for i in ([1], [0]))
    agrees(program(print), program(_report), good, bad, captured=False)


@pytest.mark.semantics("T8", "refused")
def test_a_check_when_the_graph_breaks_in_its_finally_block():
    def program(require):
        def run(x):
            try:
                require(_negative(x), "negative")
                x = x + 1
            finally:
                print("finally")
            return x * 2

        return run

    def plain(flag, message):
        if flag:
            raise ValueError(message)

    agrees(program(plain), program(_require_text), _good, _bad, captured=False)


@deferred_check
def _require_text(flag, message):
    if flag:
        raise ValueError(message)


@deferred_effect
def _warn(message):
    warnings.warn(message, stacklevel=2)


@pytest.mark.semantics("D15", "refused")
def test_an_effect_whose_warnings_are_filtered():
    def original(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.warn("quiet", stacklevel=1)
        return x + 1

    def mended(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _warn("quiet")
        return x + 1

    agrees(original, mended, _good, captured=False)


@pytest.mark.semantics("T6", "refused")
def test_a_check_before_an_operator_that_it_protects():
    def original(x, i):
        if (i >= 3).any():
            raise ValueError("index ()")
        return x[i]

    def mended(x, i):
        _require((i >= 3).any(), "index")
        return x[i]

    def inputs(*i):
        return lambda: (torch.arange(3.0), torch.tensor(i))

    agrees(original, mended, inputs(0, 2), inputs(1, 9), captured=False)


@pytest.mark.semantics("T6", "refused")
def test_a_check_before_an_index_computed_from_data():
    def program(require):
        def run(x):
            require((x > 5).any(), "large")
            rows = torch.arange(3) + x.long().clamp(min=0)
            return torch.nn.functional.embedding(rows, torch.ones(8, 2))

        return run

    def plain(flag, message):
        if flag:
            raise ValueError(message)

    agrees(program(plain), program(_require_text), _good, captured=False)


@pytest.mark.semantics("D9", "refused")
def test_an_effect_that_shows_data_before_an_operator_that_fails():
    def program(report):
        def run(x, i):
            report(i.max())
            return torch.nn.functional.embedding(i, x)

        return run

    def inputs(*i):
        return lambda: (torch.ones(3, 2), torch.tensor(i))

    agrees(program(print), program(_report), inputs(0, 2), captured=False)
    compiled = torch.compile(program(_report), backend="eager")
    assert see(compiled, inputs(1, 9)).text == "tensor(9)\n"


@pytest.mark.semantics("T5", "refused")
@pytest.mark.semantics("T8", "refused")
def test_a_check_between_writes_to_python_objects():
    class Counter:
        def __init__(self):
            self.before = 0
            self.after = 0

    def program(check):
        def run(x, counter):
            counter.before += 1
            check(_negative(x), "negative")
            counter.after += 1
            return x + 1

        return run

    def plain(flag, message, *more):
        if flag:
            raise ValueError(f"{message} {more}")

    good, bad = (lambda: (torch.ones(3), Counter())), (lambda: (-torch.ones(3), Counter()))
    agrees(program(plain), program(_require), good, bad, captured=False)


@pytest.mark.semantics("D13", "legal")
@pytest.mark.semantics("D13", "refused")
def test_an_object_that_is_written_after_the_call():
    class Box:
        def __init__(self):
            self.name = "first"

        def __repr__(self):
            return self.name

    def program(report):
        def run(x, box):
            report(box)
            box.name = "second"
            report(x.sum())
            box.name = "third"
            return x + 1

        return run

    # Once the value is written before and after, only in place is it right.
    def twice(report):
        def run(x, box):
            box.name = "zero"
            y = x.sin()
            report(box)
            box.name = "second"
            return y + 1

        return run

    inputs = lambda: (torch.ones(3), Box())  # noqa: E731
    agrees(program(print), program(_report), inputs)
    agrees(twice(print), twice(_report), inputs, captured=False)


@pytest.mark.semantics("D13", "refused")
def test_an_argument_that_is_made_in_the_region():
    class Box:
        def __init__(self, x):
            self.x = x

        def __repr__(self):
            return f"Box({self.x.sum()})"

    def program(report):
        def run(x):
            report(Box(x + 1))
            return x + 1

        return run

    agrees(program(print), program(_report), _good, captured=False)


@pytest.mark.semantics("D11", "refused")
def test_a_whole_tensor_whose_text_shows_gradient_history():
    def program(report):
        def run(x):
            y = x * 2
            report("sum", y.sum())
            return y + 1

        return run

    inputs = lambda: (torch.ones(3, requires_grad=True),)  # noqa: E731
    assert graphs_of(program(_report), inputs) == 2
    seen = see(torch.compile(program(_report), backend="eager"), inputs)
    assert seen == see(program(print), inputs)
    assert "grad_fn" in seen.text


@pytest.mark.semantics("D11", "refused")
def test_a_whole_tensor_shown_beside_a_comparison_of_something_else():
    def program(x):
        y = x * 2
        _report_beside_a_comparison(y, 3)
        return y + 1

    inputs = lambda: (torch.ones(3, requires_grad=True),)  # noqa: E731
    seen = see(torch.compile(program, backend="eager"), inputs)
    assert seen == see(program, inputs)
    assert "grad_fn" in seen.text


def test_a_tensor_subclass():
    class Tagged(torch.Tensor):
        pass

    def program(report):
        def run(x):
            report((x + 1).sum())
            return x + 1

        return run

    inputs = lambda: (torch.ones(3).as_subclass(Tagged),)  # noqa: E731
    wanted = see(program(print), inputs)
    assert see(torch.compile(program(_report), backend="eager"), inputs) == wanted


def test_a_region_that_writes_through_data():
    def program(report):
        def run(x, w):
            y = x + 1
            x.data.add_(1)
            report("written")
            return y.relu_() * w

        return run

    agrees(
        program(print),
        program(_report),
        lambda: (torch.ones(3), torch.ones(3, requires_grad=True)),
        captured=False,
    )


@pytest.mark.semantics("D9", "legal")
def test_the_switch_runs_calls_in_place(monkeypatch):
    def program(x):
        y = x + 1
        _report(y)
        return y + 1

    monkeypatch.setenv("GRAPHMEND_DEFER", "0")
    assert graphs_of(program, _good) == 2
    monkeypatch.delenv("GRAPHMEND_DEFER")
    assert graphs_of(program, _good) == 1


def test_a_refusal_says_where_and_why():
    def program(x):
        try:
            _require(_negative(x), "negative")
        except ValueError:
            return x
        return x + 1

    graphs_of(program, _good)
    line = program.__code__.co_firstlineno + 2
    assert "caught" in deferral_status().refused[__file__, line]


def test_only_functions_can_be_marked():
    with pytest.raises(TypeError):
        deferred_effect(print)
