"""Ways to run a selection: modes, transforms, checkpointing, export, shapes, compilers."""

import subprocess
import sys
import textwrap

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from graphmend.runtime import deferral_status, select
from tests.runtime.observe import agrees, graphs_of, see


def _branch(predicate, then, otherwise, *values, caches=()):
    return then(*values) if predicate else otherwise(*values)


def _same(h):
    return h


def _clamped(h):
    return h.clamp(-1, 1)


def _pair(program):
    return program(_branch), program(select)


def _cases(*lists, grad=False):
    return [lambda v=v: (torch.tensor(v, requires_grad=grad),) for v in lists]


_VALUES = ([[1.0, 0.5], [0.25, 2.0]], [[1.0, 9.0], [3.0, -8.0]], [[float("nan")] * 2, [1.0, -1.0]])


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.semantics("W12", "legal")
def test_modes_inside_and_around(grad):
    def narrow(h):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return (h @ h.t()).float()

    def wide(h):
        with torch.no_grad():
            scale = h.abs().max() + 1
        return h @ h.t() / scale

    def program(choose):
        def run(x):
            h = x * 2
            h = choose((h > 5).any(), narrow, wide, h)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                k = choose((h > 5).any(), lambda h: h @ h, lambda h: h @ h.t(), h)
            with torch.no_grad():
                n = choose((h > 5).any(), torch.sin, torch.cos, h)
            return h + k + n

        return run

    agrees(*_pair(program), *_cases(*_VALUES, grad=grad))


@pytest.mark.semantics("W12", "refused")
def test_a_side_that_leaves_a_mode_changed_keeps_the_branch():
    def switch(h):
        torch.set_grad_enabled(False)
        return h + 1

    def program(choose):
        def run(x):
            h = choose((x > 5).any(), switch, lambda h: h + 2, x)
            h = h * 2
            torch.set_grad_enabled(True)
            return h

        return run

    original, mended = _pair(program)
    torch._dynamo.reset()
    compiled = torch.compile(mended, backend="eager")
    for case in _cases(*_VALUES, grad=True):
        assert see(compiled, case) == see(original, case)


@pytest.mark.semantics("D12", "refused")
@pytest.mark.semantics("X1", "refused")
def test_checkpointing_transforms_and_export_work_as_with_the_branch():
    def program(choose):
        def block(h):
            return choose((h > 5).any(), _clamped, torch.sin, h * 2) + 1

        return block, lambda x: checkpoint(block, x, use_reentrant=False) * 2

    (block, original), (mended_block, mended) = _pair(program)
    torch._dynamo.reset()
    compiled = torch.compile(mended, backend="aot_eager")
    for case in _cases(*_VALUES, grad=True):
        assert see(compiled, case) == see(original, case)
    x = torch.ones(2, 2)

    def errors(program):
        for run in (
            lambda: torch.vmap(torch.compile(program, backend="eager", fullgraph=True))(x),
            lambda: torch.compile(torch.vmap(program), backend="eager", fullgraph=True)(x),
            lambda: torch.export.export(_Module(program), (x,), strict=True),
            lambda: torch.export.export(_Module(program), (x,), strict=False),
        ):
            torch._dynamo.reset()
            with pytest.raises(Exception) as caught:  # noqa: PT011
                run()
            yield caught.type

    assert list(errors(mended_block)) == list(errors(block))
    jacobian = torch.func.jacrev(mended_block)(x)
    assert torch.equal(jacobian, torch.func.jacrev(block)(x))


class _Module(nn.Module):
    def __init__(self, program):
        super().__init__()
        self.program = program

    def forward(self, x):
        return self.program(x)


class _Named(nn.Module):
    def __init__(self, choose):
        super().__init__()
        self.choose = choose
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("bias", torch.ones(2))

    def forward(self, x):
        h = x * self.weight
        return self.choose((h > 5).any(), self.then, self.otherwise, h) + 1

    def then(self, h):
        return (h * self.weight).clamp(-1, 1)

    def otherwise(self, h):
        return h * self.weight + self.bias


@pytest.mark.semantics("W15", "legal")
def test_methods_of_modules_and_training():
    models = _Named(_branch), _Named(select)
    torch._dynamo.reset()
    compiled = torch.compile(models[1], backend="aot_eager", fullgraph=True)
    optimisers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in models]
    for value in (1.0, 7.0, -3.0, 9.0):
        x = torch.tensor([value, 2.0])
        for run, optimiser in zip((models[0], compiled), optimisers, strict=True):
            optimiser.zero_grad()
            run(x).square().sum().backward()
            optimiser.step()
        assert torch.equal(models[0].weight, models[1].weight)


@pytest.mark.parametrize(
    "make",
    [
        lambda h: h.to(torch.complex64),
        lambda h: h.to_sparse(),
        lambda h: nn.Parameter(h) if h.requires_grad else h.to_mkldnn(),
        lambda h: h.to(torch.float64).conj() * 1j,
    ],
    ids=["complex", "sparse", "other layout", "conjugate"],
)
@pytest.mark.semantics("W15", "refused")
def test_special_tensors_keep_the_branch(make):
    def program(choose):
        def run(x):
            h = make(x)
            return choose((x > 5).any(), lambda h: h + h, lambda h: h * 2, h) * 2

        return run

    original, mended = _pair(program)
    torch._dynamo.reset()
    compiled = torch.compile(mended, backend="eager")
    x = torch.tensor(_VALUES[0])
    assert str(compiled(x)) == str(original(x))
    assert not graphs_of(mended, lambda: (x,)) == 1


@pytest.mark.semantics("W15", "refused")
@pytest.mark.semantics("W9", "refused")
def test_a_parameter_that_may_be_the_result_keeps_the_branch():
    weight = nn.Parameter(torch.ones(2))

    def program(choose):
        def run(x):
            return choose((x > 5).any(), lambda w: w, lambda w: w * 2, weight)

        return run

    torch._dynamo.reset()
    compiled = torch.compile(program(select), backend="eager")
    assert compiled(torch.full((2,), 6.0)) is weight
    assert compiled(torch.ones(2)) is not weight


@pytest.mark.semantics("W3", "legal")
def test_containers_are_joined_item_by_item():
    def then(h):
        return {"a": h * 2, "b": [h + 1, None, 3]}, (h, "x")

    def otherwise(h):
        return {"a": h * 3, "b": [h + 2, None, 3]}, (h, "x")

    def program(choose):
        def run(x):
            made, (h, text) = choose((x > 5).any(), then, otherwise, x + 1)
            made["c"] = h
            made["b"].append(text)
            return made, len(made["b"])

        return run

    agrees(*_pair(program), *_cases(*_VALUES))


@pytest.mark.parametrize(
    "other",
    [
        lambda h: ({"a": h}, h),
        lambda h: ([h, h], h),
        lambda h: ([h * 3], None),
        lambda h: ([h * 3], 1),
        lambda h: [h * 3, h],
        lambda h: ((h * 3,), h),
    ],
)
@pytest.mark.semantics("W3", "refused")
def test_other_structures_keep_the_branch(other):
    def program(choose):
        def run(x):
            return choose((x > 5).any(), lambda h: ([h * 2], h), other, x + 1)

        return run

    agrees(*_pair(program), *_cases(*_VALUES), captured=False)


def test_sizes_that_vary():
    def program(choose):
        def run(x):
            h = x * 2
            h = choose((h > 5).any(), _clamped, torch.sin, h)
            return h + 1

        return run

    original, mended = _pair(program)
    torch._dynamo.reset()
    compiled = torch.compile(mended, backend="aot_eager", fullgraph=True, dynamic=True)
    for size in (2, 3, 7):
        case = lambda n=size: (torch.arange(float(n)),)  # noqa: E731
        assert see(compiled, case) == see(original, case)


def test_a_selection_in_a_loop_and_in_an_inlined_call():
    def layer(choose, h, number):
        h = torch.sin(h) * number
        return choose((h > 2).any(), _clamped, _same, h)

    def program(choose):
        def run(x):
            h = x
            for number in range(4):
                h = h + layer(choose, h, number)
            return h

        return run

    agrees(*_pair(program), *_cases(*_VALUES, grad=True))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_inductor():
    def program(choose):
        def run(x):
            h = x * 2
            h = choose(torch.isnan(h).any(), torch.nan_to_num, torch.sqrt, h)
            return h + 1

        return run

    original, mended = _pair(program)
    torch._dynamo.reset()
    compiled = torch.compile(mended, fullgraph=True)
    for values in _VALUES:
        x, y = (torch.tensor(values, requires_grad=True) for _ in range(2))
        got, wanted = compiled(x), original(y)
        torch.testing.assert_close(got, wanted, equal_nan=True)
        got.sum().backward()
        wanted.sum().backward()
        torch.testing.assert_close(x.grad, y.grad, equal_nan=True)


def test_after_a_break_the_sides_are_compiled():
    def program(choose):
        def run(x):
            return choose((x > 5).any(), lambda h: h.cos() + 1, lambda h: h.sin()[:1], x)

        return run

    def original(x):
        if (x > 5).any():
            return x.cos() + 1
        return x.sin()[:1]

    mended = program(select)
    case = _cases(*_VALUES)[0]
    assert see(mended, case) == see(original, case)
    assert graphs_of(mended, case) == graphs_of(original, case) == 2
    reasons = [reason for reason in deferral_status().refused.values() if "shape" in reason]
    assert reasons


@pytest.mark.parametrize(
    "broken, reason",
    [
        ("graphmend.runtime.sides.trace = None", "TypeError"),
        ("torch._dynamo.side_effects.SideEffects.mutation = None", "SideEffects"),
    ],
)
def test_broken_internals_leave_the_branch_and_warn_once(broken, reason):
    program = f"""
        import warnings
        import torch, torch._dynamo
        import graphmend.runtime.sides
        from graphmend.runtime import deferral_status, select
        {broken}
        def run(x):
            return select(x.sum() > 3, torch.sin, torch.cos, x * 2) + 1
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compiled = torch.compile(run, backend="eager")
            for value in (1.0, 3.0, 1.0):
                x = torch.full((2,), value)
                assert torch.equal(compiled(x), run(x))
        assert len([w for w in caught if "graphmend" in str(w.message)]) == 1
        assert {reason!r} in deferral_status().reason
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_switched_off_it_is_the_branch():
    program = """
        import torch
        from graphmend.runtime import both, deferral_status, either, negated, select
        graphs = 0
        def backend(module, inputs):
            global graphs
            graphs += 1
            return module.forward
        def run(x):
            h = x * 2
            return select(either(h.sum() > 3, False), torch.sin, torch.cos, h) + 1
        compiled = torch.compile(run, backend=backend)
        for value in (1.0, 3.0):
            x = torch.full((2,), value)
            assert torch.equal(compiled(x), run(x))
        assert graphs > 1
        assert set(deferral_status().refused.values()) == {"deferral is off"}
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
        env={"GRAPHMEND_DEFER": "0"},
    )
    assert done.returncode == 0, done.stderr
