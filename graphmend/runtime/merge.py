"""What both sides of a selection together write to Python objects, slot by slot."""

from collections.abc import Collection
from typing import Any

from torch._dynamo import variables

from graphmend.runtime import graph_writes
from graphmend.runtime.arguments import NotDeferrable
from graphmend.runtime.join import Joiner
from graphmend.runtime.side_writes import Writes
from graphmend.runtime.versions import SetVariable, store_attribute


def merge(
    tx: Any, joiner: Joiner, then: Writes, otherwise: Writes, caches: Collection[str]
) -> None:
    """Write for both sides. A slot that one side leaves alone keeps its value on that side.

    `caches` names attributes that only the sides read: they may be there before they are needed.
    """
    for item in {**then.attributes, **otherwise.attributes}:
        merger = _Attributes(tx, joiner, item, caches)
        merger.merge(then.attributes.get(item, {}), otherwise.attributes.get(item, {}))
    for item in {**then.items, **otherwise.items}:
        earlier = dict(item.items)
        sides = then.items.get(item, earlier), otherwise.items.get(item, earlier)
        _merge_items(tx, joiner, item, *sides)


class _Attributes:
    def __init__(self, tx: Any, joiner: Joiner, item: Any, caches: Collection[str]) -> None:
        self._tx = tx
        self._joiner = joiner
        self._item = item
        self._caches = caches

    def merge(
        self, then: dict[str, tuple[Any, Any]], otherwise: dict[str, tuple[Any, Any]]
    ) -> None:
        for name in {**then, **otherwise}:
            writes = [side[name] for side in (then, otherwise) if name in side]
            kinds = {kind for _, kind in writes}
            if len(kinds) > 1 or any(type(v) is variables.DeletedVariable for v, _ in writes):
                raise NotDeferrable("a side deletes an attribute, or sets it in another way")
            earlier = self._earlier(name)
            if earlier is None and len(writes) == 1:
                if name not in self._caches:
                    raise NotDeferrable(f"a side alone creates an attribute ({name})")
                value = writes[0][0]
            else:
                values = [s[name][0] if name in s else earlier for s in (then, otherwise)]
                value = _joined(self._joiner, values[0], values[1], earlier)
            if value is not earlier:
                effects = self._tx.output.side_effects
                store_attribute(effects, self._item, name, value, kinds.pop())

    def _earlier(self, name: str) -> Any:
        """The value before both sides; None if there was none."""
        effects = self._tx.output.side_effects
        if effects.has_pending_mutation_of_attr(self._item, name):
            return effects.load_attr(self._item, name, deleted_ok=True).realize()
        if hasattr(type(self._item.value), name):
            raise NotDeferrable(f"a side sets an attribute that its class defines ({name})")
        own = getattr(self._item.value, "__dict__", ())
        return self._item.var_getattr(self._tx, name).realize() if name in own else None


def _merge_items(
    tx: Any, joiner: Joiner, item: Any, then: dict[Any, Any], otherwise: dict[Any, Any]
) -> None:
    earlier = dict(item.items)
    if list(then) != list(otherwise) or not all(key in then for key in earlier):
        raise NotDeferrable("the sides give a Python object different keys")
    if type(item) is SetVariable:
        merged = then
    else:
        merged = {
            key: _joined(joiner, then[key].realize(), otherwise[key].realize(), earlier.get(key))
            for key in then
            if not (then[key] is otherwise[key] is earlier.get(key))
        }
    changed = {key: value for key, value in merged.items() if value is not earlier.get(key)}
    if changed:
        tx.output.side_effects.mutation(item)
        item.items.update(changed)


def _joined(joiner: Joiner, then: Any, otherwise: Any, earlier: Any) -> Any:
    """The value of a slot; the earlier one where the sides store it again, or a view all of it."""
    earlier = None if earlier is None else earlier.realize()
    then, otherwise = (
        earlier if _is_all_of(value, earlier) else value for value in (then, otherwise)
    )
    return joiner.join(then, otherwise, stored=True)


def _is_all_of(value: Any, earlier: Any) -> bool:
    """Whether a tensor is the earlier one, as `to` gives it where nothing has to change."""
    if type(value) is not variables.TensorVariable or type(earlier) is not type(value):
        return False
    one, other = (graph_writes.example_of(v.as_proxy().node) for v in (value, earlier))
    return one is not None and other is not None and graph_writes.is_same_memory(one, other)
