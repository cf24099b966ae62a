"""Selections that keep the branch, one for each reason."""

import random

import pytest
import torch
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils.checkpoint import checkpoint

from graphmend.runtime import deferred_effect, either, select
from tests.runtime.reasons import InPlace, collector, inputs

PROGRAMS: list[InPlace] = []
_DEFAULT = inputs([1.0, 2.0], [-4.0, -9.0])
_GRAD = inputs([1.0, 2.0], [-4.0, -9.0], grad=True)
in_place = collector(PROGRAMS, _DEFAULT)


@deferred_effect
def _report(*values):
    print(*values)


def _same(h):
    return h


def _tripled(h):
    return h * 3


class _Holder:
    by_class = None


_HOLDER = _Holder()
_LISTS = [1.0], [2.0]
_LAYERS = torch.nn.Identity(), torch.nn.ReLU()
_TABLES = tuple(lambda v=v: (torch.full((2,), v), {"a": 1, "b": 2}) for v in (2.0, -2.0))
_META = torch.ones(2, device="meta")
_NESTED = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
_TWO = TwoTensor(torch.tensor(True), torch.tensor(True))


# -- what the sides give ---------------------------------------------------------------------------


@in_place("the sides give different kinds of values (int and Tensor)")
def _a_number_and_a_tensor(x):
    return x + select((x > 1).any(), lambda h: 3, _tripled, x)


@in_place("the sides give values that cannot be joined")
def _two_layers(x):
    layer = select((x > 1).any(), lambda: _LAYERS[0], lambda: _LAYERS[1])
    return layer(x)


@in_place("the sides give different numbers of values")
def _pair_and_triple(x):
    return sum(select((x > 1).any(), lambda h: (h, h + 1), lambda h: (h, h, h + 2), x))


@in_place("the sides give containers that existed before")
def _two_lists(x):
    return x + select((x > 1).any(), lambda: _LISTS[0], lambda: _LISTS[1])[0]


@in_place("the sides give the same container more than once")
def _one_list_twice(x):
    def then(h):
        made = [h]
        return made, made

    one, other = select((x > 1).any(), then, lambda h: ([h + 1], [h + 2]), x)
    one.append(3)
    return x + len(other)


@in_place("the sides give dictionaries whose keys are not constants")
def _a_dictionary_of_objects(x):
    return select((x > 1).any(), lambda h: {_HOLDER: h}, lambda h: {_HOLDER: h + 1}, x)[_HOLDER]


@in_place("the sides give dictionaries with different keys")
def _different_keys(x):
    made = select((x > 1).any(), lambda h: {"a": h}, lambda h: {"b": h}, x)
    return [key for key in made.keys()], x + 1


@in_place("a side gives a tensor with attributes of its own")
def _an_attribute_of_a_tensor(x):
    def then(h):
        y = h * 3
        y.tag = 3
        return y

    y = select((x > 1).any(), then, lambda h: h + 1, x)
    return y, getattr(y, "tag", 0)


@in_place("the predicate is on another device", inputs([1.0, 2.0]))
def _another_device(x):
    return select((x > 1).any(), lambda m: m * 2, _tripled, _META).shape


# -- what the sides write --------------------------------------------------------------------------


@in_place("a side deletes an attribute, or sets it in another way")
def _a_deleted_attribute(x):
    def then(h):
        del _HOLDER.value
        return h + 1

    _HOLDER.value = 1
    return select((x > 1).any(), then, _tripled, x), hasattr(_HOLDER, "value")


@in_place("a side sets an attribute that its class defines (by_class)")
def _an_attribute_of_the_class(x):
    def then(h):
        _HOLDER.by_class = h * 1
        return h + 1

    y = select((x > 1).any(), then, _tripled, x)
    return y, _HOLDER.by_class


@in_place("the sides give a Python object different keys", _TABLES)
def _a_new_key(x, table):
    def then(h):
        table["c"] = 3
        return h + 1

    return select((x > 1).any(), then, _tripled, x)


@in_place("a side removes items from a Python object", _TABLES)
def _a_key_that_is_taken_out(x, table):
    def then(h):
        del table["b"]
        table["b"] = 2
        return h + 1

    return select((x > 1).any(), then, _tripled, x)


@in_place("a side writes to a Python object (ListVariable)")
def _a_list_that_grows(x):
    def then(h):
        _LISTS[0].append(3.0)
        return h + 1

    y = select((x > 1).any(), then, _tripled, x)
    length = len(_LISTS[0])
    del _LISTS[0][1:]
    return y, length


@in_place("a side both defers a call and writes to Python objects")
def _a_report_and_a_write(x):
    def then(h):
        _report("then")
        _HOLDER.result = h * 1
        return h + 1

    _HOLDER.result = x * 2
    return select((x > 1).any(), then, _tripled, x), _HOLDER.result


@in_place("a side writes to Python objects in a way that cannot be taken back", _GRAD)
def _a_hook(x):
    def then(h):
        x.register_hook(lambda g: g * 5)
        return h * 4

    return select((x > 1).any(), then, _tripled, x * 2)


@in_place("a side writes a tensor of a size that varies", inputs([1.0], [1.0, 2.0]), dynamic=True)
def _a_write_of_any_size(x):
    def then(h):
        h.add_(1)
        return h * 1

    h = x * 2
    return select((h > 1).any(), then, _tripled, h) + h


@in_place("a side writes a tensor whose elements overlap")
def _a_write_of_overlapping_elements(x):
    def then(e):
        e.fill_(2)
        return e * 1

    e = torch.as_strided(torch.cat([x, x]), (2, 3), (1, 1))
    return select((e > 1).any(), then, _tripled, e), e


@in_place("a side writes something else than a plain tensor")
def _a_write_of_a_nested_tensor(x):
    def then(h):
        _NESTED.fill_(2)
        return h * 1

    return select((x > 1).any(), then, _tripled, x), _NESTED.sum()


# -- what the sides do -----------------------------------------------------------------------------


@in_place("a side may draw random numbers (dropout)")
def _dropout(x):
    return select((x > 1).any(), lambda h: torch.dropout(h, 1.0, True), _tripled, x)


@in_place("a side draws random numbers")
def _random_numbers_of_python(x):
    return select((x > 1).any(), lambda h: h + random.randint(1, 1), _tripled, x)


@in_place("a side cannot be traced")
def _a_break(x):
    def then(h):
        torch._dynamo.graph_break()
        return h + 1

    return select((x > 1).any(), then, _tripled, x)


@in_place("the graph breaks in a side", nested_graph_breaks=True)
def _a_nested_break(x):
    def then(h):
        torch._dynamo.graph_break()
        return h + 1

    return select((x > 1).any(), then, _tripled, x)


@in_place("a side contains a higher-order operator")
def _a_checkpoint(x):
    def then(h):
        return checkpoint(torch.sin, h, use_reentrant=False)

    return select((x > 1).any(), then, _tripled, x)


@in_place("a side may fail on its data (getitem)")
def _an_index(x):
    return select((x > 1).any(), lambda h: h[h.abs().long().clamp(max=1)], _tripled, x)


@in_place(
    "a side changes a tensor (t_)", (lambda: (torch.ones(2, 2),), lambda: (torch.zeros(2, 2),))
)
def _a_transposition_in_place(x):
    def then(h):
        y = h * 3
        y.t_()
        return y * 1

    return select((x > 0).any(), then, lambda h: h.t() * 3, x)


@in_place("a side makes a size that depends on data", capture_dynamic_output_shape_ops=True)
def _positions(x):
    return select((x > 1).any(), lambda h: h + (h > 0).nonzero().sum(), _tripled, x)


@in_place("a side contains an operator that gives no tensor")
def _an_assert(x):
    def then(h):
        torch.ops.aten._assert_tensor_metadata.default(h, None, None, torch.float32)
        return h + 1

    return select((x > 1).any(), then, _tripled, x)


# -- gradients -------------------------------------------------------------------------------------


@in_place("gradients are watched by hooks or anomaly detection", _GRAD)
def _a_hook_before(x):
    x.register_hook(lambda g: g * 3)
    return select((x > 1).any(), torch.exp, _tripled, x * 2)


@in_place("both sides use a tensor whose gradient may become NaN", _GRAD)
def _a_root_on_both_sides(x):
    h = x * 2
    root = h.sqrt()
    return sum(select((h > 1).any(), lambda r, h: (r, h), lambda r, h: (h, r), root, h))


@in_place(
    "gradients of the sides flow to different tensors",
    tuple(
        lambda v=v: (torch.tensor(v, requires_grad=True), torch.ones(2, requires_grad=True))
        for v in ([1.0, 2.0], [-1.0, -2.0])
    ),
)
def _a_weight_on_one_side(x, w):
    h = x * 2
    return select((h > 1).any(), lambda h, w: h * w, lambda h, w: h * 3, h, w)


@in_place("a tensor that carries gradients is written in place", _GRAD)
def _a_product_in_place(x):
    def then(h):
        y = h * 2
        y.mul_(h.sqrt())
        return y

    h = x * 2
    return select((h > 1).any(), then, _tripled, h)


@in_place("gradients enter a side by a tensor that is not dense", _GRAD)
def _an_expanded_tensor(x):
    e = (x * 2).expand(2, 2)
    return select((e > 1).any(), torch.sqrt, torch.exp, e)


@in_place("gradients enter a side other than by a plain tensor", _GRAD)
def _a_nested_tensor(x):
    h = x * 2
    nested = torch.nested.nested_tensor_from_jagged(h, torch.tensor([0, 1, 2]))
    return select((h > 1).any(), lambda n: n.exp().sum(), lambda n: n.sin().sum(), nested)


@in_place("a mode changes after a tensor whose gradient may become NaN", _GRAD)
def _another_mode(x):
    h = x * 2
    root = h.sqrt()
    with torch.autocast("cpu", torch.bfloat16):
        return select((h > 1).any(), lambda r, h: r + h, lambda r, h: h * 3, root, h)


@in_place("writes to a tensor are not seen", _GRAD)
def _a_write_through_data(x):
    h = x * 2
    factor = x.data
    factor.mul_(2)
    root = h.sqrt() * factor
    return select((h > 1).any(), lambda r, h: r + h, lambda r, h: h * 3, root, h)


@in_place("what the gradient of a side needs is used after a graph break", _GRAD)
def _used_after_a_break(x):
    h = x * 2
    grown = h.exp()
    y = select((h > 1).any(), lambda g, h: g * g, lambda g, h: h.exp(), grown, h)
    torch._dynamo.graph_break()
    return y * grown


# -- the call and its predicate --------------------------------------------------------------------


@in_place("the call has keyword arguments that select does not take")
def _a_keyword(x):
    return select((x > 1).any(), _same, _tripled, x, other=3)


@in_place(
    "an operand is neither a tensor nor known while tracing",
    inputs([1.0, 2.0], [1.0, 2.0, 3.0, 4.0]),
    dynamic=True,
)
def _an_operand_of_the_shape(x):
    return select(either((x > 1).any(), x.shape[0] > 3), _same, _tripled, x + 1)


@in_place("the operands are on different devices", inputs([-1.0, -2.0]))
def _operands_on_two_devices(x):
    try:
        return select(either((x > 0).any(), (_META > 0).any()), _same, _tripled, x + 1)
    except Exception as error:
        return type(error).__name__


@in_place("the predicate is not a plain tensor")
def _a_wrapper_as_predicate(x):
    return select(_TWO, _same, _tripled, x + 1)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.reason)
def test_it_keeps_the_branch(program):
    program.check()
