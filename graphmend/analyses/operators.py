"""What torch's operators do: facts by name, read from the generated data when first asked for."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

# Other spellings of the namespaces in the data.
_SPELLINGS = {
    "torch.functional.": "torch.",
    "torch._C._nn.": "torch.nn.functional.",
    "torch._C._VariableFunctions.": "torch.",
    "torch._tensor.Tensor.": "torch.Tensor.",
}
# Methods of tensors that modules, loggers, queues, data frames and the like have as well.
_SHARED = frozenset(
    "apply_ bfloat16 bool cpu cuda data data_ptr dim double float gather get_device grad half"
    " imag int is_leaf itemsize log long map_ name names narrow nbytes new put real register_hook"
    " rename requires_grad requires_grad_ reshape resize round select set_ share_memory_ shape"
    " short size sort split stride to trace transpose type T device dtype layout numpy ndim where"
    " filter equal add dot std mean var sum min max all any prod diff clip repeat unique".split()
)
# Of these, arrays have the first; a call of the others most likely is one of a tensor as well.
_ARRAY_METHODS = frozenset("sum mean std var prod min max all any".split())
_LIKELY = frozenset(
    "clip round repeat where dot reshape transpose to float half double bfloat16 long size dim"
    " get_device equal diff stride short unique".split()
)
_BUILTIN_NAMES = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, complex) for name in dir(kind)
)


@dataclass(frozen=True, slots=True)
class OperatorFacts:
    """One operator under its Python name.

    `tensors`, `ints`, `writes` and `aliases` are positions in `params` (0 is the receiver of a
    method): arguments that are always tensors, that are always ints or sequences of ints, that are
    written in place, and whose memory the result may share or be. `total`: called with that one
    argument alone, of any shape and any real dtype, it cannot raise. `zero_dim`: called without a
    dimension the result has none.
    """

    name: str
    params: tuple[str, ...] = ()
    tensors: frozenset[int] = frozenset()
    ints: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    aliases: frozenset[int] = frozenset()
    returns: str = "tensor"
    fields: tuple[str, ...] = ()
    random: bool = False
    raises_on_data: bool = False
    total: bool = False
    dynamic_shape: bool = False
    reads_scalar: bool = False
    pointwise: bool = False
    zero_dim: bool = False
    bool_result: bool = False
    impure: bool = False
    attribute: bool = False
    when: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def raises_on_shape(self) -> bool:
        """Whether some shape or dtype of its arguments makes it raise."""
        return not self.total

    def given(self, arguments: Collection[str]) -> OperatorFacts:
        """The facts of a call that gives these parameters (by name, the first one included).

        `name=value` besides a name says that its value is known.
        """
        result = self
        alone = sum("=" not in argument for argument in arguments) == 1
        for condition, override in self.when.items():
            if alone if condition == "alone" else _holds(condition, arguments):
                result = replace(result, **_typed(override))
        return result if alone or not self.total else replace(result, total=False)


def _holds(condition: str, arguments: Collection[str]) -> bool:
    """Whether a call meets a condition of `when`; a value that is not known may be any."""
    name, _, value = condition.partition("=")
    unknown = name in arguments and not any(a.startswith(f"{name}=") for a in arguments)
    return condition in arguments or (bool(value) and unknown)


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    """What calling an instance of a torch.nn class does.

    `static` are attributes that hold plain Python values; `writes_state`: buffers are written in
    training; `aliases` and `writes` as for operators, 0 the first argument of the call.
    """

    name: str
    returns: str = "tensor"
    static: frozenset[str] = frozenset()
    random: bool = False
    raises_on_data: bool = False
    writes_state: bool = False
    aliases: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    when: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def facts(name: str) -> OperatorFacts | None:
    """The facts of a qualified name (`torch.where`) or a bare tensor method (`sum`)."""
    if "." not in name:
        name = f"torch.Tensor.{name}"
    return _operator(_spelled(name))


def module_facts(name: str) -> ModuleFacts | None:
    """The facts of a class of torch.nn, under `torch.nn.X` or `torch.nn.modules.y.X`."""
    if name.startswith("torch.nn.modules."):
        name = "torch.nn." + name.rpartition(".")[2]
    found = _data()["modules"].get(name)
    return ModuleFacts(name, **_typed(found)) if found is not None else None


def is_constant(name: str) -> bool:
    """Whether the qualified name is a dtype, layout, memory format or number of torch."""
    holder, _, last = name.rpartition(".")
    return holder == "torch" and last in _constants()


@cache
def only_tensors_have(name: str) -> bool:
    """Whether a method of this name shows that its receiver is a tensor."""
    if name in _BUILTIN_NAMES or name in _SHARED or name.startswith("__"):
        return False
    found = facts(name)
    return found is not None


def only_arrays_have(name: str) -> bool:
    """Whether a method of this name shows that its receiver is a tensor or a NumPy array."""
    return name in _ARRAY_METHODS or only_tensors_have(name)


def likely_on_tensor(name: str) -> bool:
    """Whether a call of this method on a receiver nothing is known of is taken for a tensor's."""
    return name in _LIKELY or only_arrays_have(name)


@cache
def _operator(name: str) -> OperatorFacts | None:
    found = _data()["operators"].get(name)
    return OperatorFacts(name, **_typed(found)) if found is not None else None


def _spelled(name: str) -> str:
    for other, usual in _SPELLINGS.items():
        if name.startswith(other):
            return usual + name.removeprefix(other)
    return name


_SETS = frozenset({"tensors", "ints", "writes", "aliases", "static"})
_TUPLES = frozenset({"params", "fields"})


def _typed(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: frozenset(v) if key in _SETS else tuple(v) if key in _TUPLES else v
        for key, v in entry.items()
    }


@cache
def _data() -> dict[str, Any]:
    text = (files("graphmend") / "data" / "operators.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@cache
def _constants() -> frozenset[str]:
    return frozenset(_data()["constants"])
