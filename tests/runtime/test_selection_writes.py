"""Sides that write to Python objects: what both make of a slot is joined as their results are."""

import itertools

import pytest
import torch
from torch import nn

from graphmend.runtime import select
from tests.runtime.observe import agrees, see


def _branch(predicate, then, otherwise, *values, caches=()):
    return then(*values) if predicate else otherwise(*values)


class _State:
    def __init__(self):
        self.t = torch.zeros(2)
        self.u = torch.ones(2)
        self.n = 1
        self.items = [1]
        self.table = {"a": torch.zeros(2), "b": 2}


def _program(then, otherwise, **options):
    def program(choose):
        def run(x, state):
            h = x * 2
            choose((h > 3).any(), then, otherwise, h, state, **options)
            return h + state.t + state.table["a"]

        return run

    return program(_branch), program(select)


_CASES = [lambda v=v: (torch.tensor([v, 0.5]), _State()) for v in (1.0, 2.0)]


def _set_t(h, state):
    state.t = h * 3


def _set_u(h, state):
    state.u = h + 1


def _set_both(h, state):
    state.t, state.u, state.n = h.sin(), h.cos(), 2


def _set_n(h, state):
    state.n = 2


def _keep(h, state):
    state.t, state.n = state.t.to(torch.float32), 1


def _set_item(h, state):
    state.table["a"] = h.exp()


def _nothing(h, state):
    pass


@pytest.mark.parametrize("one, other", [*itertools.product([_set_t, _keep, _set_item], repeat=2)])
@pytest.mark.semantics("W8", "legal")
def test_slots_are_joined(one, other):
    agrees(*_program(one, other), *_CASES)


@pytest.mark.semantics("W8", "legal")
def test_a_slot_that_one_side_writes_keeps_its_value_on_the_other():
    agrees(*_program(_set_t, _nothing), *_CASES)
    agrees(*_program(_nothing, _set_item), *_CASES)
    agrees(*_program(_set_t, _set_u), *_CASES)


@pytest.mark.semantics("W8", "legal")
def test_equal_constants_are_stored():
    agrees(*_program(_set_n, _set_both), *_CASES)
    agrees(*_program(_set_n, _set_n), *_CASES)


def _new(h, state):
    state.fresh = h * 2


def _new_item(h, state):
    state.table["c"] = h


def _remove(h, state):
    del state.table["b"]


def _remove_last(h, state):
    state.table.popitem()


def _remove_attribute(h, state):
    del state.n


def _append(h, state):
    state.items.append(2)


def _other_shape(h, state):
    state.t = h[None]


def _other_kind(h, state):
    state.t = None


@pytest.mark.parametrize(
    "side",
    [_set_n, _new, _new_item, _append, _other_shape, _other_kind]
    + [_remove, _remove_last, _remove_attribute],
)
@pytest.mark.semantics("W8", "refused")
def test_other_writes_keep_the_branch(side):
    def program(choose):
        def run(x, state):
            h = x * 2
            choose((h > 3).any(), side, _nothing, h, state)
            return h + 1

        return run

    agrees(program(_branch), program(select), *_CASES, captured=False)


@pytest.mark.semantics("W8", "refused")
def test_a_list_of_the_region_keeps_the_branch():
    def add(values, h):
        values.append(h)

    def program(choose):
        def run(x):
            values = [x + 1]
            choose((x > 3).any(), add, lambda values, h: None, values, x + 2)
            return sum(values)

        return run

    cases = [lambda v=v: (torch.full((2,), v),) for v in (1.0, 4.0)]
    agrees(program(_branch), program(select), *cases, captured=False)


@pytest.mark.semantics("W9", "refused")
def test_a_stored_tensor_that_is_returned_too_keeps_the_branch():
    def program(choose):
        def run(x, state):
            choose((x > 3).any(), _set_t, _nothing, x * 2, state)
            return state.t

        return run

    agrees(program(_branch), program(select), *_CASES, captured=False)
    original, mended = program(_branch), program(select)
    state, compiled = _State(), torch.compile(mended, backend="eager")
    assert compiled(torch.zeros(2), state) is state.t
    assert original(torch.zeros(2), state) is state.t


@pytest.mark.semantics("W8", "legal")
def test_writes_of_nested_selections():
    def outer(choose):
        def then(h, state):
            choose((h > 5).any(), _set_t, _set_item, h, state)
            state.t = state.t + 1

        return then

    def program(choose):
        def run(x, state):
            h = x * 2
            choose((h > 3).any(), outer(choose), _set_u, h, state)
            return h + state.t + state.table["a"]

        return run

    cases = [lambda v=v: (torch.tensor([v, 0.5]), _State()) for v in (1.0, 2.0, 9.0)]
    agrees(program(_branch), program(select), *cases)


def _frequencies(length):
    factors = [1.0, 2.0, 4.0, 8.0] if length > 8 else [1.0] * 4
    exponents = torch.arange(0, 8, 2, dtype=torch.int64).float() / 8
    return 1.0 / (torch.tensor(factors, dtype=torch.float32) * 10000**exponents)


def _long(module, device):
    if not hasattr(module, "long"):
        module.long = module.compute(9)
    module.register_buffer("frequencies", module.long, persistent=False)


def _short(module, device):
    module.original = module.original.to(device)
    module.register_buffer("frequencies", module.original, persistent=False)


class _Positions(nn.Module):
    def __init__(self, choose):
        super().__init__()
        self.choose = choose
        self.compute = _frequencies
        self.register_buffer("frequencies", _frequencies(1), persistent=False)
        self.original = self.frequencies

    @torch.no_grad()
    def forward(self, positions):
        length = positions.max() + 1
        self.choose(length > 8, _long, _short, self, positions.device, caches=("long",))
        return (positions[:, None] * self.frequencies).cos()


@pytest.mark.parametrize("order", [*itertools.product((3, 9), repeat=3)])
@pytest.mark.semantics("W8", "legal")
def test_a_buffer_bound_again_is_compiled_twice_at_most(order):
    torch._dynamo.reset()
    graphs = 0

    def backend(module, example_inputs):
        nonlocal graphs
        graphs += 1
        return module.forward

    original, mended = _Positions(_branch), _Positions(select)
    compiled = torch.compile(mended, backend=backend, fullgraph=True)
    for last in (*order, 3, 9):
        inputs = lambda n=last: (torch.tensor([0.0, 1.0, n]),)  # noqa: E731
        assert see(compiled, inputs) == see(original, inputs)
        for name in ("frequencies", "original"):
            assert torch.equal(getattr(mended, name), getattr(original, name))
    assert list(mended.state_dict()) == list(original.state_dict()) == []
    assert graphs <= 2


class _Codebook(nn.Module):
    def __init__(self, choose):
        super().__init__()
        self.choose = choose
        self.register_buffer("embed", torch.zeros(3, 2))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("seen", torch.zeros(4))
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x):
        y = x * 2
        with torch.no_grad():
            self.choose(y.sum() > 3, self.side(1), self.side(0), self, y)
        return y * self.weight + self.embed.sum() + self.count + self.seen[1]


def _first(module, y):
    module.embed.copy_(y.expand(3, 2))
    module.embed[1].mul_(2)
    module.embed[1:, 0].add_(module.embed[0, 0])
    module.count += 1


def _second(module, y):
    module.seen[:2].sub_(1)
    torch.add(module.embed, 1, out=module.embed)


def _idle(module, y):
    pass


@pytest.mark.parametrize("sides", [(_first, _idle), (_idle, _second), (_first, _second)])
@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
@pytest.mark.semantics("W8", "legal")
def test_buffers_are_written_by_the_side_that_is_taken(sides, mode):
    def make(choose):
        module = _Codebook(choose)
        module.side = lambda number: sides[1 - number]
        return module

    for backend in ("eager", "aot_eager"):
        torch._dynamo.reset()
        original, mended = make(_branch), make(select)
        compiled = torch.compile(mended, backend=backend, fullgraph=True)
        for value in (1.0, 0.5, 2.0, -1.0, 1.0):
            with mode():
                inputs = lambda v=value: (torch.tensor([v, 1.0]),)  # noqa: E731
                assert see(compiled, inputs) == see(original, inputs)
            assert see(mended.state_dict, tuple) == see(original.state_dict, tuple)


def _write_result(h, x):
    return h.add_(1)


def _write_input(h, x):
    x[:1].mul_(2)
    return h + x


def _write_through_data(h, x):
    x.data.mul_(2)
    return h + x


def _write_silently(h, x):
    return torch.nn.functional.batch_norm(h.repeat(3, 1), x, x + 1, training=True)[0]


@pytest.mark.parametrize("side", [_write_result, _write_input])
@pytest.mark.semantics("W8", "legal")
def test_values_are_written_by_the_side_that_is_taken(side):
    def program(choose):
        def run(x):
            h = x * 2
            v = h[:1]
            y = choose((h > 3).any(), side, lambda h, x: h * 2, h, x)
            return y + 1, v + 1, x + h

        return run

    agrees(program(_branch), program(select), *[lambda v=v: (torch.tensor(v),) for v in _NUMBERS])


_NUMBERS = ([1.0, 2.0], [-1.0, -2.0])


@pytest.mark.parametrize("side", [_write_through_data, _write_silently])
@pytest.mark.semantics("W8", "refused")
def test_other_writes_to_tensors_keep_the_branch(side):
    def program(choose):
        def run(x):
            h = x * 2
            return choose((h > 3).any(), side, lambda h, x: h * 2, h, x) + 1

        return run

    cases = [lambda v=v: (torch.tensor(v),) for v in _NUMBERS]
    agrees(program(_branch), program(select), *cases, captured=False)


def test_a_side_may_write_the_predicate():
    class Once(nn.Module):
        def __init__(self, choose):
            super().__init__()
            self.choose = choose
            self.register_buffer("done", torch.tensor(False))
            self.register_buffer("first", torch.zeros(2))

        def forward(self, x):
            self.choose(self.done, self.nothing, self.start, x * 2)
            return x + self.first

        def nothing(self, y):
            pass

        def start(self, y):
            self.done.fill_(True)
            self.first.copy_(y)

    original, mended = Once(_branch), Once(select)
    torch._dynamo.reset()
    compiled = torch.compile(mended, backend="aot_eager", fullgraph=True)
    for value in (1.0, 2.0, 3.0):
        inputs = lambda v=value: (torch.full((2,), v),)  # noqa: E731
        assert see(compiled, inputs) == see(original, inputs)


@pytest.mark.semantics("W8", "refused")
def test_a_write_to_what_a_gradient_needs_keeps_the_branch():
    def program(choose):
        def run(x, w):
            y = x * w
            with torch.no_grad():
                choose((w > 1).any(), lambda w: w.mul_(2), lambda w: w, w)
            return y + 1

        return run

    cases = [
        lambda v=v: (torch.ones(2, requires_grad=True), torch.tensor(v))
        for v in ([1.0, 1.0], [0.0, -1.0])
    ]
    agrees(program(_branch), program(select), *cases, captured=False)


class _Descent(nn.Module):
    """A step that is left out when the gradient overflows."""

    def __init__(self, choose, before):
        super().__init__()
        self.choose, self.before = choose, before
        self.weight = nn.Parameter(torch.tensor([1.0, -2.0]))
        self.register_buffer("skipped", torch.zeros((), dtype=torch.int64))

    def forward(self, gradient):
        reading = self.weight * 2 if self.before else 0
        with torch.no_grad():
            is_bad = torch.isinf(gradient).any()
            self.choose(is_bad, self.skip, self.descend, gradient)
        return (self.weight * self.weight + reading).sum()

    def skip(self, gradient):
        self.skipped += 1

    def descend(self, gradient):
        self.weight.add_(gradient, alpha=-0.1)


_GRADIENTS = ([1.0, 2.0], [float("inf"), 1.0], [-1.0, 0.5], [float("inf"), 0.0])


def _descends(original, compiled, mended):
    for values in _GRADIENTS:
        for module, run in ((original, original), (mended, compiled)):
            module.zero_grad()
            run(torch.tensor(values)).backward()
        assert torch.equal(mended.weight, original.weight)
        assert torch.equal(mended.weight.grad, original.weight.grad)
        assert torch.equal(mended.skipped, original.skipped)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.semantics("W8", "legal")
@pytest.mark.semantics("W15", "legal")
def test_a_parameter_is_written_by_the_side_that_is_taken(backend):
    original, mended = _Descent(_branch, False), _Descent(select, False)
    torch._dynamo.reset()
    _descends(original, torch.compile(mended, backend=backend, fullgraph=True), mended)


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # TorchDynamo asks for it at a break
@pytest.mark.semantics("W8", "refused")
@pytest.mark.semantics("W15", "refused")
def test_a_write_to_a_parameter_that_was_read_before_keeps_the_branch():
    original, mended = _Descent(_branch, True), _Descent(select, True)
    torch._dynamo.reset()
    _descends(original, torch.compile(mended, backend="eager"), mended)
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch._dynamo.reset()
        torch.compile(mended, backend="eager", fullgraph=True)(torch.tensor(_GRADIENTS[0]))
