"""Operators that fail while tracing come after the deferred calls that stand before them."""

import pytest
import torch

from graphmend.runtime import deferred_check, deferred_effect
from tests.runtime.observe import see


@deferred_check
def _require(flag, message):
    if flag:
        raise ValueError(message)


@deferred_effect
def _report(*values):
    print(*values)


def _reshape(x):
    _report("rows", x.shape[0], x.sum())
    _require((x < 0).any(), "negative")
    y = x * 2
    return y.view(2, 2)


def _reshape_in_submodule(x):
    return _reshape(x + 0) + 1


@pytest.mark.parametrize("program", [_reshape, _reshape_in_submodule])
@pytest.mark.parametrize("fullgraph", [False, True])
@pytest.mark.semantics("T6", "legal")
def test_the_check_raises_first(program, fullgraph):
    torch._dynamo.reset()
    compiled = torch.compile(program, backend="eager", fullgraph=fullgraph)
    inputs = lambda: (-torch.ones(3),)  # noqa: E731
    for _ in range(2):
        assert see(compiled, inputs) == see(program, inputs)


@pytest.mark.parametrize("fullgraph", [False, True])
@pytest.mark.semantics("T6", "legal")
def test_the_operator_fails_as_before_when_the_check_passes(fullgraph):
    def original(x):
        return (x * 2).view(2, 2)

    def errors(program):
        torch._dynamo.reset()
        compiled = torch.compile(program, backend="eager", fullgraph=fullgraph)
        return [see(compiled, lambda: (torch.ones(3),)) for _ in range(2)]

    for before, after in zip(errors(original), errors(_reshape), strict=True):
        assert after.error[0] is before.error[0]
        assert "shape '[2, 2]' is invalid" in after.error[1]
        assert after.text == "rows 3 tensor(3.)\n"
    torch._dynamo.reset()
    compiled = torch.compile(_reshape, backend="eager", fullgraph=fullgraph)
    assert see(compiled, lambda: (torch.ones(4),)) == see(_reshape, lambda: (torch.ones(4),))


@pytest.mark.parametrize("fullgraph", [False, True])
def test_inside_a_grad_mode_the_error_comes_out(fullgraph):
    def program(x):
        with torch.no_grad():
            return _reshape(x)

    torch._dynamo.reset()
    compiled = torch.compile(program, backend="eager", fullgraph=fullgraph)
    seen = see(compiled, lambda: (-torch.ones(3),))
    if fullgraph:
        assert "shape '[2, 2]' is invalid" in seen.error[1]
    else:
        assert seen == see(program, lambda: (-torch.ones(3),))
    assert torch.is_grad_enabled()


@deferred_check
def _mask_check(is_given, mask):
    torch._check(bool(is_given and mask.any()), lambda: "the mask is empty")


@pytest.mark.semantics("T2", "legal")
def test_a_check_of_torch_keeps_its_message_where_numbers_are_captured():
    """TorchDynamo would put it into the graph, with a message about its symbols."""

    def run(x, mask):
        h = x * 1
        _mask_check(mask is not None, mask)
        return h + h

    torch._dynamo.reset()
    compiled = torch.compile(run, backend="eager", fullgraph=True)
    mask = torch.tensor([True, False])
    assert torch.equal(compiled(torch.ones(2), mask), torch.full((2,), 2.0))
    with pytest.raises(RuntimeError) as caught:
        compiled(torch.ones(2), mask & False)
    assert str(caught.value) == "the mask is empty"
