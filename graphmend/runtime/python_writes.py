"""Which Python objects that existed before the traced region it has written so far.

TorchDynamo replays these writes after the graph. Two snapshots that differ have a write between
them.
"""

from typing import Any

import torch
from torch._dynamo.variables import TensorVariable, base

from graphmend.runtime.versions import holds_items

_NEW = (base.AttributeMutationNew, base.ValueMutationNew)

Snapshot = tuple[Any, ...]


def snapshot(side_effects: Any) -> Snapshot:
    """The pending writes to existing objects; empty when there are none. Compare with `same`."""
    parts: list[Any] = []
    for variable in side_effects.id_to_variable.values():
        if variable.mutation_type is None or isinstance(variable.mutation_type, _NEW):
            continue
        if side_effects.is_modified(variable):
            parts += _writes_to(variable, side_effects)
    parts += side_effects.tensor_hooks
    return tuple(parts)


def same(one: Snapshot, other: Snapshot) -> bool:
    """Whether no write lies between two snapshots."""
    return len(one) == len(other) and all(a is b or a == b for a, b in zip(one, other, strict=True))


def _writes_to(variable: Any, side_effects: Any) -> list[Any]:
    parts: list[Any] = []
    for name, value in side_effects.store_attr_mutations.get(variable, {}).items():
        parts += (name, value)
    if isinstance(getattr(variable, "original_items", None), dict):
        parts += _changed_items(variable)
    elif not parts or holds_items(variable):
        parts += _contents(variable, depth=2)
    return [variable, *parts] if parts else []


def _changed_items(variable: Any) -> list[Any]:
    """What differs in a dictionary or set from what it held before the region."""
    before = {_key(key): value for key, value in variable.original_items.items()}
    after = {_key(key): value for key, value in variable.items.items()}
    parts: list[Any] = sorted(map(str, before.keys() - after.keys()))
    for key, value in after.items():
        if key not in before or not _is_same_value(before[key], value):
            parts += (key, value)
    return parts


def _key(key: Any) -> Any:
    variable = getattr(key, "vt", key)
    return variable.as_python_constant() if variable.is_python_constant() else variable


def _is_same_value(before: Any, after: Any) -> bool:
    """Whether a store put back what was there; an in-place operator gives the very tensor back."""
    if before is None or before is after:
        return before is after
    if not (before.is_realized() and after.is_realized()):
        return False
    before, after = before.realize(), after.realize()
    if before is after:
        return True
    if type(before) is not TensorVariable or type(after) is not TensorVariable:
        return False
    return _fake(before) is not None and _fake(before) is _fake(after)


def _fake(variable: Any) -> torch.Tensor | None:
    value: torch.Tensor | None = variable.as_proxy().node.meta.get("example_value")
    return value


def _contents(variable: Any, depth: int) -> list[Any]:
    """What `variable` holds, flat: its items, and those of the containers that it is made of."""
    parts: list[Any] = []
    for value in vars(variable).values():
        if isinstance(value, list | tuple):
            parts += value
        elif isinstance(value, dict):
            parts += [part for item in value.items() for part in item]
        elif isinstance(value, int | str):
            parts.append(value)
        elif depth and isinstance(value, base.VariableTracker):
            parts += _contents(value, depth - 1)
    return parts
