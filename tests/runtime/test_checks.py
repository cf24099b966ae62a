"""Deferred calls that run in place, one for each reason."""

import subprocess
import sys

import pytest
import torch
from torch.testing._internal.two_tensor import TwoTensor

from graphmend.runtime import async_check, deferral_status, deferred_check, deferred_effect
from tests.runtime.reasons import InPlace, collector, inputs

PROGRAMS: list[InPlace] = []
_DEFAULT = inputs([1.0, 2.0], [-4.0, -9.0])
_GRAD = inputs([1.0, 2.0], [-4.0, -9.0], grad=True)
in_place = collector(PROGRAMS, _DEFAULT)


@deferred_effect
def _report(*values):
    print(*values)


@deferred_effect
def _text(value):
    print(str(value))


@deferred_effect
def _kind(value):
    print(type(value))


@deferred_check
def _require(flag, *more):
    if flag:
        raise ValueError(f"bad {more}")


@async_check
def _never(flag):
    raise ValueError("always")


@async_check
def _bad(flag):
    if flag:
        raise ValueError("bad")


@async_check
def _named(flag, *, name):
    if flag:
        raise ValueError(name)


class _Holder:
    pass


class _Tagged(torch.Tensor):
    pass


_HOLDER = _Holder()
_TWO = TwoTensor(torch.ones(2), torch.ones(2))
_TAGGED = torch.ones(2).as_subclass(_Tagged)


@in_place("an argument is a tensor subclass")
def _a_wrapper(x):
    _kind(_TWO)
    return x + 1


@in_place("an argument is a _Tagged")
def _a_subclass(x):
    _kind(_TAGGED)
    return x + 1


@in_place("an argument is made in the region")
def _an_object(x):
    _kind(_Holder())
    return x + 1


@in_place("a written argument's text may show its gradient history", _GRAD)
def _a_leaf_that_is_written(x):
    _text(x)
    with torch.no_grad():
        x.add_(1)
    return x * 2


@in_place("an argument is a dictionary whose keys are not constants")
def _a_dictionary_of_objects(x):
    _kind({_HOLDER: 1.0})
    return x + 1


@in_place("the check fails whatever its tensors hold")
def _a_check_that_always_fails(x):
    _never((x > 1).any())
    return x + 1


@in_place("the compiled code is saved", caching_precompile=True)
def _a_check_in_saved_code(x):
    _bad((x > 5).any())
    return x + 1


@in_place("the check takes keyword arguments")
def _a_check_with_keywords(x):
    _named((x > 5).any(), name="large")
    return x + 1


@in_place("the call does not fit the function")
def _too_many_arguments(x):
    _text(x, x)
    return x + 1


@in_place("the call stands in an exception handler")
def _in_a_handler(x):
    y = x + 1
    try:
        raise ValueError("a")
    except ValueError:
        _report("handled")
    return y * 2


@in_place("the call stands inside a higher-order operator")
def _in_a_transform(x):
    def inner(h):
        _kind(h)
        return h * 2

    return torch.func.vmap(inner)(x[None]) + 1


@in_place("a tensor that an argument may hold is written after the call")
def _an_object_beside_a_write(x):
    _kind(_HOLDER)
    x.add_(1)
    return x + 1


@in_place("something is written after a check inside try/finally")
def _a_write_after_finally(x):
    try:
        _require((x > 1).any())
        y = x + 1
    finally:
        y = x + 2
    _HOLDER.written = 3
    return y


@in_place(
    "operators that may fail on data stand on both sides of it",
    (lambda: (torch.ones(2), torch.tensor([0, 1])),),
    caching_precompile=True,
)
def _a_report_between_lookups_in_saved_code(x, i):
    y = x[i]
    _report("between")
    return y[i]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.reason)
def test_it_runs_in_place(program):
    program.check()


def test_a_static_check_in_an_export_is_left_to_the_export():
    class Model(torch.nn.Module):
        def forward(self, x):
            _require(x.dim() == 3)
            return x + 1

    torch.export.export(Model(), (torch.ones(2),), strict=True)
    line = Model.forward.__code__.co_firstlineno + 1
    assert deferral_status().refused[__file__, line] == "the program is being exported"


_BROKEN = """
import torch, torch._dynamo
import graphmend.runtime.calls

def broken(*arguments):
    raise KeyError("changed")

graphmend.runtime.calls._bind = broken

@graphmend.runtime.deferred_effect
def report(text):
    print(text)

def run(x):
    report("reported")
    return x + 1

graphs = []
compiled = torch.compile(run, backend=lambda module, _: graphs.append(module) or module.forward)
print(compiled(torch.ones(2)).tolist(), len(graphs))
"""


def test_an_error_at_a_call_leaves_the_calls_in_place_and_the_rest_compiled():
    done = subprocess.run([sys.executable, "-c", _BROKEN], capture_output=True, text=True)
    assert done.stdout == "reported\n[2.0, 2.0] 1\n", done.stderr
