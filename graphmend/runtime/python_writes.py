"""Which Python objects that existed before the traced region it has written so far.

TorchDynamo replays these writes after the graph. Two snapshots that differ have a write between
them.
"""

from typing import Any

from torch._dynamo.variables import base

_NEW = (base.AttributeMutationNew, base.ValueMutationNew)

Snapshot = tuple[Any, ...]
NOTHING: Snapshot = ()


def snapshot(side_effects: Any) -> Snapshot:
    """The pending writes to existing objects; empty when there are none. Compare with `same`."""
    parts: list[Any] = []
    for variable in side_effects.id_to_variable.values():
        if variable.mutation_type is None or isinstance(variable.mutation_type, _NEW):
            continue
        if side_effects.is_modified(variable):
            parts.append(variable)
            parts += _contents(variable, depth=2)
            for name, value in side_effects.store_attr_mutations.get(variable, {}).items():
                parts += (name, value)
    parts += side_effects.tensor_hooks
    return tuple(parts)


def same(one: Snapshot, other: Snapshot) -> bool:
    """Whether no write lies between two snapshots."""
    return len(one) == len(other) and all(a is b or a == b for a, b in zip(one, other, strict=True))


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
