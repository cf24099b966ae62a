"""Records, warnings and tracebacks show the site: its file, line and function, and its callers."""

import logging
import sys
import traceback
import warnings

import pytest
import torch

from graphmend.runtime import deferred_check, deferred_effect
from tests.runtime.observe import agrees, see

logger = logging.getLogger("runtime.places")


@deferred_effect
def _log(message, *values, level=2):
    logger.info(message, *values, stacklevel=level)


@deferred_effect
def _warn(message, level=2):
    warnings.warn(message, stacklevel=level)


@deferred_check
def _fail(flag):
    if flag:
        logger.error("failing", stacklevel=2)
        raise ValueError("negative")


def _ones():
    return (torch.ones(3),)


def _inner(x):
    _log("inner %s", x.sum())
    _warn(
        "inner",
    )
    return x + 1


def _middle(x):
    _log("caller", level=3)
    return _inner(x) * 2


class _Layer(torch.nn.Module):
    def forward(self, x):
        _log("layer %d", 1)
        _warn("layer")
        return _middle(x)


class _Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([_Layer(), _Layer()])

    def forward(self, x):
        _log("model")
        for layer in self.layers:
            x = layer(x)
        return x


@pytest.mark.semantics("D10", "legal")
def test_records_and_warnings_show_the_site_and_its_callers():
    def run(x):
        _log("run")
        _warn("run")
        y = _middle(x)
        _warn("middle's caller", level=2)
        return y

    agrees(run, run, _ones)


@pytest.mark.semantics("D10", "legal")
def test_in_submodules():
    model = _Model()

    def run(x):
        return model(x)

    agrees(run, run, _ones)


@pytest.mark.semantics("D10", "legal")
def test_after_a_graph_break():
    def run(x):
        x = x + 1
        torch._dynamo.graph_break()
        x = x * 2
        _log("resumed")
        _warn("resumed")
        return _middle(x)

    for backend in ("eager", "aot_eager"):
        torch._dynamo.reset()
        assert see(torch.compile(run, backend=backend), _ones) == see(run, _ones)


@pytest.mark.semantics("D10", "legal")
@pytest.mark.semantics("T3", "legal")
def test_checks_that_also_log():
    def inner(x):
        _fail((x < 0).any())
        return x + 1

    def run(x):
        _fail((x > 5).any())
        return inner(x)

    agrees(run, run, _ones, lambda: (-torch.ones(2),), lambda: (torch.full((2,), 9.0),))


@pytest.mark.semantics("D10", "legal")
@pytest.mark.semantics("D1", "legal")
def test_two_sites_warn_once_each():
    def run(x):
        for _ in range(2):
            _warn("same text")
            x = x + 1
            _warn("same text")
        return x

    def count(program):
        registry = sys.modules[__name__].__dict__.setdefault("__warningregistry__", {})
        registry.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            program(torch.ones(3))
            program(torch.ones(3))
        return [(w.filename, w.lineno) for w in caught]

    wanted = count(run)
    assert len(wanted) == 2
    torch._dynamo.reset()
    assert count(torch.compile(run, backend="eager", fullgraph=True)) == wanted


def test_the_traceback_of_a_check_shows_the_site():
    def inner(x):
        y = x + 1
        _fail((y < 0).any())
        return y

    def run(x):
        x = x * 2
        return inner(x)

    def lines(program):
        with pytest.raises(ValueError) as caught:
            program(-torch.ones(2))
        summary = traceback.extract_tb(caught.value.__traceback__)
        return [(f.name, f.lineno) for f in summary if f.filename == __file__][1:]

    torch._dynamo.reset()
    compiled = lines(torch.compile(run, backend="eager", fullgraph=True))
    wanted = lines(run)
    assert [frame for frame in compiled if frame in wanted][-3:] == wanted[-3:]


@pytest.mark.semantics("D1", "legal")
def test_a_warning_that_is_an_error_raises_at_the_site():
    def run(x):
        x = x + 1
        _warn("now an error")
        return x * 2

    torch._dynamo.reset()
    compiled = torch.compile(run, backend="eager", fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        with pytest.raises(UserWarning, match="now an error"):
            compiled(torch.ones(2))


def test_text_printed_by_frames_that_are_inlined_keeps_its_globals():
    from tests.runtime import other_module

    def run(x):
        return other_module.step(x)

    torch._dynamo.reset()
    compiled = torch.compile(run, backend="eager", fullgraph=True)
    assert see(compiled, _ones) == see(run, _ones)
