"""The arguments of a deferred call, kept as they were at the call.

Tensors are held by the graph, detached, with a copy beside them that is dropped again when nothing
writes the tensor later. Containers are rebuilt from their items. Objects stay as they are, which
is right as long as nothing writes them later.
"""

import dataclasses
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch._dynamo import variables
from torch._dynamo.utils import is_safe_constant
from torch._dynamo.variables.lists import SizeVariable
from torch._dynamo.variables.misc import StringFormatVariable
from torch._dynamo.variables.tensor import SymNodeVariable
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from graphmend.runtime import graph_writes
from graphmend.runtime.value_uses import reads_only_numbers


class NotDeferrable(Exception):
    """The call must run in place; the text says why."""


@dataclasses.dataclass(frozen=True)
class HeldTensor:
    """A tensor argument: `plain` as it is, `copy` as it was at the call."""

    plain: Any
    copy: Any
    fake: torch.Tensor
    shows_history: bool

    @property
    def storage(self) -> int:
        return graph_writes.storage_of(self.fake)


Finish = Callable[[set[int]], Any]
"""Gives the final value of an argument, from the storages written after the call."""


@dataclasses.dataclass
class Arguments:
    """All arguments of one deferred call.

    `values` are in the order of the call, those for `keywords` last.
    """

    values: list[Finish]
    keywords: tuple[str, ...]
    tensors: list[HeldTensor]
    has_objects: bool
    has_data: bool

    def finish(self, written: set[int]) -> list[Any]:
        """The variables to pass, given the storages that the graph writes after the call."""
        return [value(written) for value in self.values]

    def drop_unused_copies(self, graph: torch.fx.Graph) -> None:
        """Erase the nodes of copies and detached values that nothing uses."""
        for held in reversed(self.tensors):
            for variable in (held.copy, held.plain):
                node = variable.as_proxy().node
                if not node._erased and not node.users and node.meta.get("graphmend_held"):
                    graph.erase_node(node)


class ArgumentReader:
    """Takes the arguments of one call to `function` apart, at the call."""

    def __init__(self, tx: Any, function: types.FunctionType) -> None:
        self._tx = tx
        self._function = function
        self._tensors: list[HeldTensor] = []
        self._has_objects = False
        self._has_data = False

    def read(self, bound: Mapping[str, Any], keywords: Mapping[str, Any]) -> Arguments:
        """Read positional arguments (by parameter name) and keyword arguments.

        Raises NotDeferrable for a value that cannot be kept.
        """
        values = [self._read(v, name) for name, v in (*bound.items(), *keywords.items())]
        return Arguments(values, tuple(keywords), self._tensors, self._has_objects, self._has_data)

    def _read(self, variable: Any, parameter: str | None) -> Finish:
        variable = variable.realize()
        kind = type(variable)
        if kind is variables.TensorVariable:
            return self._tensor(variable, parameter)
        if kind is SymNodeVariable:
            if variable.python_type() is bool and variable.source is None:
                raise NotDeferrable("an argument is a symbolic truth value")
            self._has_data = True
            return _always(variable)
        if kind is StringFormatVariable:
            return self._format(variable)
        if kind in (variables.TupleVariable, variables.ListVariable, SizeVariable):
            return self._sequence(kind, variable)
        if kind is variables.ConstDictVariable and variable.python_type() is dict:
            return self._mapping(variable)
        if variable.is_python_constant() and is_safe_constant(variable.as_python_constant()):
            return _always(variables.ConstantVariable.create(variable.as_python_constant()))
        if variable.is_tensor() or isinstance(variable, variables.UnspecializedPythonVariable):
            raise NotDeferrable(f"an argument is a {variable.python_type().__name__}")
        if variable.source is None:
            raise NotDeferrable(f"an argument is made in the region ({kind.__name__})")
        self._has_objects = True
        return _always(variable)

    def _tensor(self, variable: Any, parameter: str | None) -> Finish:
        fake = variable.as_proxy().node.meta.get("example_value")
        if not isinstance(fake, torch.Tensor) or is_traceable_wrapper_subclass(fake):
            raise NotDeferrable("an argument is a tensor subclass")
        if fake.layout is not torch.strided or fake.is_quantized or fake.is_nested:
            raise NotDeferrable("an argument is a tensor that is not dense")
        self._has_data = True
        shows_history = fake.requires_grad and not (
            parameter is not None and reads_only_numbers(self._function, parameter, fake.dim() == 0)
        )
        plain = variable
        if fake.requires_grad and variable.source is None:
            if shows_history:
                raise NotDeferrable("an argument's text may show its gradient history")
            plain = self._held(variable, "detach")
        base = plain if plain is not variable or not fake.requires_grad else None
        copy = self._held(base if base is not None else self._held(variable, "detach"), "clone")
        held = HeldTensor(plain, copy, fake, shows_history)
        self._tensors.append(held)

        def finish(written: set[int]) -> Any:
            if held.storage not in written:
                return held.plain
            if held.shows_history:
                raise NotDeferrable("a written argument's text may show its gradient history")
            return held.copy

        return finish

    def _held(self, variable: Any, method: str) -> Any:
        result = variable.call_method(self._tx, method, [], {})
        result.as_proxy().node.meta["graphmend_held"] = True
        return result

    def _format(self, variable: Any) -> Finish:
        text = variable.format_string
        arguments = [self._read(a, None) for a in variable.sym_args]
        named = {name: self._read(a, None) for name, a in variable.sym_kwargs.items()}
        return lambda written: StringFormatVariable(
            text,
            [argument(written) for argument in arguments],
            {name: argument(written) for name, argument in named.items()},
        )

    def _sequence(self, kind: type, variable: Any) -> Finish:
        items = [self._read(item, None) for item in variable.items]
        options: dict[str, Any] = {}
        if kind is variables.ListVariable:
            options["mutation_type"] = variables.base.ValueMutationNew()
        return lambda written: kind([item(written) for item in items], **options)

    def _mapping(self, variable: Any) -> Finish:
        items = [(key.vt, self._read(value, None)) for key, value in variable.items.items()]
        if not all(key.is_python_constant() for key, _ in items):
            raise NotDeferrable("an argument is a dictionary whose keys are not constants")
        return lambda written: variables.ConstDictVariable(
            {key: value(written) for key, value in items},
            mutation_type=variables.base.ValueMutationNew(),
        )


def _always(variable: Any) -> Finish:
    return lambda written: variable
