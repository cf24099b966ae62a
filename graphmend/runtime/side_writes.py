"""Writes of a side to Python objects from outside: noted, and taken back from the trace.

TorchDynamo keeps such writes in tables and replays them after the graph. Each object that a side
writes is copied in its state before, put back when the side is complete, and later given what both
sides together make of it.
"""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

from torch._dynamo import variables
from torch._dynamo.variables import base

from graphmend.runtime.arguments import NotDeferrable
from graphmend.runtime.versions import SetVariable, attribute_kinds, holds_items

_CONTAINERS = (variables.ConstDictVariable, SetVariable)


@dataclasses.dataclass(frozen=True)
class Writes:
    """What one side wrote.

    `attributes` holds values and kinds of stores by object and name, `items` all items of each
    dictionary or set that it wrote, by key.
    """

    attributes: dict[Any, dict[str, tuple[Any, Any]]]
    items: dict[Any, dict[Any, Any]]


class Recorder:
    """Notes which objects are written while a side is traced; see `recording`."""

    def __init__(self, side_effects: Any) -> None:
        self._side_effects = side_effects
        self._attributes: dict[Any, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._containers: dict[Any, tuple[dict[Any, Any], tuple[bool, bool]]] = {}
        self._refused: str | None = None

    def before_write(self, item: Any) -> None:
        """Copy the state of `item`, which is about to be written."""
        if base.is_side_effect_safe(item.mutation_type):
            return
        if item in self._attributes or item in self._containers:
            return
        if _has_attributes(item):
            tables = self._side_effects.store_attr_mutations, attribute_kinds(self._side_effects)
            self._attributes[item] = tuple(dict(table.get(item, {})) for table in tables)  # type: ignore[assignment]
        elif _is_container(item) and not item.should_reconstruct_all:
            # Where it is set, items have been removed: TorchDynamo reports some removals late.
            self._containers[item] = dict(item.items), _flags(item)
        else:
            self._refused = f"a side writes to a Python object ({type(item).__name__})"

    def take_back(self) -> Writes:
        """Put back what was there before, and give what was written.

        Raises NotDeferrable where that cannot be done.
        """
        if self._refused is not None:
            raise NotDeferrable(self._refused)
        attributes = {item: self._restored_attributes(item) for item in self._attributes}
        return Writes(attributes, {item: self._restored_items(item) for item in self._containers})

    def _restored_attributes(self, item: Any) -> dict[str, tuple[Any, Any]]:
        values, kinds = self._attributes[item]
        stored, ways = self._side_effects.store_attr_mutations, attribute_kinds(self._side_effects)
        written = {
            name: (value, ways.get(item, {}).get(name))
            for name, value in stored.get(item, {}).items()
            if values.get(name) is not value
        }
        for table, earlier in ((stored, values), (ways, kinds)):
            if earlier:
                table[item] = earlier
            else:
                table.pop(item, None)
        return written

    def _restored_items(self, item: Any) -> dict[Any, Any]:
        earlier, flags = self._containers[item]
        after = dict(item.items)
        if item.should_reconstruct_all != flags[1]:
            raise NotDeferrable("a side removes items from a Python object")
        item.items.clear()
        item.items.update(earlier)
        item.mutation_type.is_modified = flags[0]
        return after


def _has_attributes(item: Any) -> bool:
    return (
        isinstance(item.mutation_type, base.AttributeMutationExisting)
        and isinstance(item, variables.UserDefinedObjectVariable)
        and not holds_items(item)
    )


def _is_container(item: Any) -> bool:
    return type(item) in _CONTAINERS and isinstance(item.mutation_type, base.ValueMutationExisting)


def _flags(item: Any) -> tuple[bool, bool]:
    return item.mutation_type.is_modified, item.should_reconstruct_all


@contextlib.contextmanager
def recording(side_effects: Any) -> Iterator[Recorder]:
    """Let TorchDynamo ask a recorder, instead of itself, whether an object may be written."""
    recorder = Recorder(side_effects)
    own = side_effects.__dict__
    patched = {
        "check_allowed_side_effect": lambda item: recorder.before_write(item),
        "snapshot_attr_mutation": lambda item, name, value: False,
    }
    earlier = {name: own[name] for name in patched if name in own}
    own.update(patched)
    try:
        yield recorder
    finally:
        for name in patched:
            del own[name]
        own.update(earlier)
