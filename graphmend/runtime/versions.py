"""Where the versions of torch that are supported differ, in one place."""

import inspect
from typing import Any

from torch._dynamo import variables

# The module that defines it differs.
SetVariable: Any = variables.SetVariable  # type: ignore[attr-defined]

# What stands for the items of an object whose class derives from a container, by version.
_ITEMS = ("_base_vt", "_dict_vt", "_list_vt", "_set_vt", "_tuple_vt")


def attribute_kinds(side_effects: Any) -> dict[Any, dict[str, Any]]:
    """How pending stores of attributes were made, by object and name.

    Before torch 2.13 there is one way only, and nothing is listed.
    """
    kinds: dict[Any, dict[str, Any]] = getattr(side_effects, "attr_mutation_kinds", {})
    return kinds


def store_attribute(side_effects: Any, item: Any, name: str, value: Any, kind: Any) -> None:
    """Store an attribute as `attribute_kinds` says of another; None stands for the only way."""
    more = () if kind is None else (kind,)
    side_effects.store_attr(item, name, value, *more)


def stores_are_known(side_effects: Any) -> bool:
    """Whether attributes are stored in a way that the functions above handle; a probe."""
    parameters = list(inspect.signature(side_effects.store_attr).parameters)
    if parameters == ["item", "name", "value"]:
        return not hasattr(side_effects, "attr_mutation_kinds")
    return (
        parameters == ["item", "name", "value", "mutation_kind"]
        and isinstance(side_effects.attr_mutation_kinds, dict)
        and callable(side_effects.snapshot_attr_mutation)
    )


def holds_items(variable: Any) -> bool:
    """Whether an object is a container as well, since its class derives from dict, say."""
    return any(getattr(variable, name, None) is not None for name in _ITEMS)
