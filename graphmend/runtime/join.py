"""Joins what the sides of a selection give: tensors by `torch.where`, the rest must be equal."""

import dataclasses
from typing import Any

import torch
from torch import fx
from torch._dynamo import variables
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, statically_known_true

from graphmend.runtime import graph_writes, truth
from graphmend.runtime.arguments import NotDeferrable


@dataclasses.dataclass(frozen=True)
class Joined:
    """Two tensors, one of each side, and what stands for both in the graph."""

    result: fx.Node
    then: fx.Node
    otherwise: fx.Node
    stored: bool
    """Whether it is written to a Python object."""


class Joiner:
    """Joins values under one predicate; `joined` lists the tensors that needed an operator."""

    def __init__(self, tx: Any, predicate: Any) -> None:
        self._tx = tx
        self._predicate = predicate
        self._tensors: dict[tuple[fx.Node, fx.Node, bool], Any] = {}
        self._made: dict[int, tuple[int, Any]] = {}
        self._partners: dict[int, int] = {}
        self.joined: list[Joined] = []

    def join(self, then: Any, otherwise: Any, stored: bool = False) -> Any:
        """The variable that stands for `then` or `otherwise`, as the predicate decides.

        With `stored` it is for a slot of a Python object.
        """
        then, otherwise = then.realize(), otherwise.realize()
        if then is otherwise:
            return then
        kind = type(then)
        if kind is not type(otherwise):
            raise NotDeferrable(
                f"the sides give different kinds of values ({_kind(then)} and {_kind(otherwise)})"
            )
        if kind is variables.ConstantVariable:
            return _equal_constants(then, otherwise)
        if kind is variables.TensorVariable:
            return self._tensor(then, otherwise, stored)
        if kind is variables.TupleVariable:
            return variables.TupleVariable(self._items(then.items, otherwise.items, stored))
        if kind in (variables.ListVariable, variables.ConstDictVariable) and not stored:
            return self._container(then, otherwise)
        raise NotDeferrable(f"the sides give values that cannot be joined ({_kind(then)})")

    def _items(self, then: list[Any], otherwise: list[Any], stored: bool = False) -> list[Any]:
        if len(then) != len(otherwise):
            raise NotDeferrable("the sides give different numbers of values")
        return [self.join(a, b, stored) for a, b in zip(then, otherwise, strict=True)]

    def _container(self, then: Any, otherwise: Any) -> Any:
        """A new list or dictionary for two that the sides have made."""
        if id(then) in self._made:
            partner, made = self._made[id(then)]
            if partner == id(otherwise):
                return made
        new = variables.base.ValueMutationNew
        if not (isinstance(then.mutation_type, new) and isinstance(otherwise.mutation_type, new)):
            raise NotDeferrable("the sides give containers that existed before")
        if id(then) in self._made or id(otherwise) in self._partners:
            raise NotDeferrable("the sides give the same container more than once")
        if type(then) is variables.ListVariable:
            items = self._items(then.items, otherwise.items)
            made = variables.ListVariable(items, mutation_type=new())
        else:
            made = self._dictionary(then, otherwise)
        self._made[id(then)] = id(otherwise), made
        self._partners[id(otherwise)] = id(then)
        return made

    def _dictionary(self, then: Any, otherwise: Any) -> Any:
        keys = [key.vt for key in then.items]
        others = [key.vt for key in otherwise.items]
        if not all(key.is_python_constant() for key in keys + others):
            raise NotDeferrable("the sides give dictionaries whose keys are not constants")
        if then.python_type() is not dict or otherwise.python_type() is not dict:
            raise NotDeferrable("the sides give dictionaries of other types")
        if [k.as_python_constant() for k in keys] != [k.as_python_constant() for k in others]:
            raise NotDeferrable("the sides give dictionaries with different keys")
        values = self._items(list(then.items.values()), list(otherwise.items.values()))
        return variables.ConstDictVariable(
            dict(zip(keys, values, strict=True)), mutation_type=variables.base.ValueMutationNew()
        )

    def _tensor(self, then: Any, otherwise: Any, stored: bool) -> Any:
        nodes = then.as_proxy().node, otherwise.as_proxy().node
        if nodes[0] is nodes[1]:
            return then
        key = (*nodes, stored)
        if key not in self._tensors:
            self._require_alike(then, otherwise)
            result = truth.emitted(
                self._tx, "call_function", torch.where, self._predicate, then, otherwise
            )
            _require_same(_fake(result), _fake(then), "the selection gives another tensor")
            self._tensors[key] = result
            self.joined.append(Joined(result.as_proxy().node, *nodes, stored))
        return self._tensors[key]

    def _require_alike(self, then: Any, otherwise: Any) -> None:
        for variable in (then, otherwise):
            _require_plain(variable)
            if self._tx.output.side_effects.has_pending_mutation(variable):
                raise NotDeferrable("a side gives a tensor with attributes of its own")
        _require_same(_fake(then), _fake(otherwise), "the sides give different tensors")
        if _fake(then).device != _fake(self._predicate).device:
            raise NotDeferrable("the predicate is on another device")


def _kind(variable: Any) -> str:
    try:
        return str(variable.python_type().__name__)
    except NotImplementedError:
        return type(variable).__name__


def _fake(variable: Any) -> torch.Tensor:
    value = graph_writes.example_of(variable.as_proxy().node)
    if value is None:
        raise NotDeferrable("a side gives a tensor that is not known while tracing")
    return value


def _equal_constants(then: Any, otherwise: Any) -> Any:
    one, other = then.as_python_constant(), otherwise.as_python_constant()
    # Texts tell 0.0 from -0.0.
    if type(one) is type(other) and one == other and repr(one) == repr(other):
        return then
    raise NotDeferrable("the sides give different constants")


def _require_plain(variable: Any) -> None:
    fake = _fake(variable)
    is_plain = (
        type(fake) is FakeTensor
        and variable.python_type() is torch.Tensor
        and fake.layout is torch.strided
        and not (fake.is_quantized or fake.is_nested or fake.is_complex() or fake.is_neg())
        and not free_unbacked_symbols(fake)
    )
    if not is_plain:
        raise NotDeferrable("a side gives something else than a plain dense tensor")


def _require_same(one: torch.Tensor, other: torch.Tensor, what: str) -> None:
    for name in ("dtype", "device", "requires_grad"):
        if getattr(one, name) != getattr(other, name):
            raise NotDeferrable(f"{what}: {name}")
    for name, left, right in (
        ("shape", one.shape, other.shape),
        ("stride", one.stride(), other.stride()),
    ):
        if len(left) != len(right) or not all(map(_is_known_equal, left, right)):
            raise NotDeferrable(f"{what}: {name}")


def _is_known_equal(one: Any, other: Any) -> bool:
    return bool(statically_known_true(one == other))
