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
from torch._dynamo.bytecode_transformation import create_call_function
from torch._dynamo.utils import is_safe_constant
from torch._dynamo.variables import misc
from torch._dynamo.variables.lists import SizeVariable
from torch._dynamo.variables.tensor import SymNodeVariable
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from graphmend.runtime import graph_writes
from graphmend.runtime.value_uses import reads_only_numbers

# Objects whose state is no concern of the region, such as a module's logger.
_STABLE = (
    misc.LoggingLoggerVariable,
    misc.PythonModuleVariable,
    variables.BuiltinVariable,
    variables.UserDefinedClassVariable,
    variables.UserFunctionVariable,
)


class NotDeferrable(Exception):
    """The call must run in place; the text says why.

    With `skips_frame`, so must all of its frame.
    """

    def __init__(self, reason: str, skips_frame: bool = False) -> None:
        super().__init__(reason)
        self.skips_frame = skips_frame


@dataclasses.dataclass(eq=False)
class HeldTensor:
    """A tensor argument: `plain` as it is, `copy` as it was at the call; `chosen` is passed."""

    plain: Any
    copy: Any
    fake: torch.Tensor
    shows_history: bool
    chosen: Any = None

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
    nodes: list[torch.fx.Node]
    """Operators added to the graph to hold the tensors."""
    has_objects: bool
    has_data: bool

    def finish(self, written: set[int]) -> list[Any]:
        """The variables to pass, given the storages that the graph writes after the call."""
        return [value(written) for value in self.values]

    def drop_unused_copies(self, graph: torch.fx.Graph) -> None:
        """Erase the nodes of copies and detached values that nothing uses."""
        kept = {held.chosen.as_proxy().node for held in self.tensors if held.chosen is not None}
        for node in reversed(self.nodes):
            if node not in kept and not node.users:
                graph.erase_node(node)


class ArgumentReader:
    """Takes the arguments of one call to `function` apart, at the call."""

    def __init__(self, tx: Any, function: types.FunctionType) -> None:
        self._tx = tx
        self._function = function
        self._result = Arguments([], (), [], [], has_objects=False, has_data=False)

    def read(
        self, positional: list[tuple[str | None, Any]], keywords: Mapping[str, Any]
    ) -> Arguments:
        """Read positional arguments, with the names of their parameters, and keyword arguments.

        Raises NotDeferrable for a value that cannot be kept.
        """
        result = self._result
        result.keywords = tuple(keywords)
        try:
            for name, variable in (*positional, *keywords.items()):
                result.values.append(self._read(variable, name))
        except NotDeferrable:
            result.drop_unused_copies(self._tx.output.graph)
            raise
        return result

    def _read(self, variable: Any, parameter: str | None) -> Finish:
        variable = variable.realize()
        kind = type(variable)
        if kind is variables.TensorVariable:
            return self._tensor(variable, self._may_show_history(variable, parameter))
        if kind is SymNodeVariable:
            self._result.has_data = True
            if variable.python_type() is bool:
                return _always(_TruthValue(variable.as_tensor(self._tx, torch.bool)))
            return _always(variable)
        if kind is misc.StringFormatVariable:
            return self._format(variable)
        if kind in (variables.TupleVariable, variables.ListVariable, SizeVariable):
            return self._sequence(kind, variable)
        if kind is variables.ConstDictVariable and variable.python_type() is dict:
            return self._mapping(variable)
        if variable.is_python_constant() and is_safe_constant(variable.as_python_constant()):
            return _always(_constant(variable))
        if variable.is_tensor() or isinstance(variable, variables.UnspecializedPythonVariable):
            raise NotDeferrable(f"an argument is a {variable.python_type().__name__}")
        if variable.source is None:
            raise NotDeferrable(f"an argument is made in the region ({kind.__name__})")
        self._result.has_objects |= not isinstance(variable, _STABLE)
        return _always(variable)

    def _may_show_history(self, variable: Any, parameter: str | None) -> bool:
        if parameter is None:
            return True
        return not reads_only_numbers(self._function, parameter, _example(variable).dim() == 0)

    def _tensor(self, variable: Any, may_show_history: bool) -> Finish:
        fake = _example(variable)
        if is_traceable_wrapper_subclass(fake):
            raise NotDeferrable("an argument is a tensor subclass")
        if fake.layout is not torch.strided or fake.is_quantized or fake.is_nested:
            raise NotDeferrable("an argument is a tensor that is not dense")
        self._result.has_data = True
        shows_history = fake.requires_grad and may_show_history
        plain = variable
        if fake.requires_grad and variable.source is None:
            if shows_history:
                raise NotDeferrable("an argument's text may show its gradient history")
            plain = self._held(variable, "detach")
        detached = self._held(variable, "detach") if plain.requires_grad else plain
        copy = self._held(detached, "clone")
        held = HeldTensor(plain, copy, fake, shows_history)
        self._result.tensors.append(held)

        def finish(written: set[int]) -> Any:
            held.chosen = held.plain if held.storage not in written else held.copy
            if held.chosen is held.copy and held.shows_history:
                raise NotDeferrable("a written argument's text may show its gradient history")
            return held.chosen

        return finish

    def _held(self, variable: Any, method: str) -> Any:
        result = variable.call_method(self._tx, method, [], {})
        self._result.nodes.append(result.as_proxy().node)
        return result

    def _format(self, variable: Any) -> Finish:
        text = variable.format_string
        arguments = [self._formatted(a, text) for a in variable.sym_args]
        named = {name: self._formatted(a, text) for name, a in variable.sym_kwargs.items()}
        return lambda written: misc.StringFormatVariable(
            text,
            [argument(written) for argument in arguments],
            {name: argument(written) for name, argument in named.items()},
        )

    def _formatted(self, variable: Any, text: str) -> Finish:
        """A value inside an f-string: of a 0-d tensor, that shows its number only."""
        variable = variable.realize()
        if type(variable) is variables.TensorVariable:
            return self._tensor(variable, "!" in text or _example(variable).dim() > 0)
        return self._read(variable, None)

    def _sequence(self, kind: type, variable: Any) -> Finish:
        items = [self._read(item, None) for item in variable.items]
        options: dict[str, Any] = {}
        if kind is variables.ListVariable:
            options["mutation_type"] = variables.base.ValueMutationNew()
        return lambda written: kind([item(written) for item in items], **options)

    def _mapping(self, variable: Any) -> Finish:
        variable.install_dict_keys_match_guard()  # its items are taken: other keys, other code
        items = [(key.vt, self._read(value, None)) for key, value in variable.items.items()]
        if not all(key.is_python_constant() for key, _ in items):
            raise NotDeferrable("an argument is a dictionary whose keys are not constants")
        return lambda written: variables.ConstDictVariable(
            {key: value(written) for key, value in items},
            mutation_type=variables.base.ValueMutationNew(),
        )


def _constant(variable: Any) -> Any:
    """A constant that no longer depends on where the value came from."""
    value = variable.as_python_constant()
    if variables.ConstantVariable.is_base_literal(value):
        return variables.ConstantVariable.create(value)
    return variable


class _TruthValue(variables.base.VariableTracker):
    """A symbolic truth value, which graphs can only give back as a tensor."""

    def __init__(self, tensor: Any) -> None:
        super().__init__()
        self._tensor = tensor

    def reconstruct(self, codegen: Any) -> None:
        def load_item() -> None:
            codegen(self._tensor)
            codegen.append_output(codegen.create_load_attr("item"))

        codegen.add_push_null(load_item)
        codegen.extend_output(create_call_function(0, False))


def _always(variable: Any) -> Finish:
    return lambda written: variable


def _example(variable: Any) -> torch.Tensor:
    """The fake tensor of a tensor variable."""
    example = variable.as_proxy().node.meta.get("example_value")
    if not isinstance(example, torch.Tensor):
        raise NotDeferrable("an argument is not known while tracing")
    return example
