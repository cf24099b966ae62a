"""The lattice of value kinds: what is known of a value while a function is traced."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce


class Tag(StrEnum):
    """What a value is to the tracer."""

    BOTTOM = "bottom"
    """No value reaches here (yet)."""
    STATIC = "static"
    """A Python value the tracer folds: numbers, shapes, strings, None, dtypes, flags."""
    TENSOR = "tensor"
    SCALAR = "scalar"
    """A Python value taken from a tensor's data."""
    NUMPY = "numpy"
    CONTAINER = "container"
    MODULE = "module"
    LOGGER = "logger"
    MIXED = "mixed"
    """Tensor data on some paths, a Python value on others."""
    UNKNOWN = "unknown"


DATA = frozenset({Tag.TENSOR, Tag.SCALAR, Tag.NUMPY, Tag.MIXED})


@dataclass(frozen=True, slots=True)
class Kind:
    """A tag with what more is known.

    `none`: just None. `optional`: None is possible too. `presumed`: taken from how a name is used
    somewhere, not from what it is bound to. For tensors `zero_dim` and `bool_dtype` are known
    facts, `data_shape` says that sizes depend on data. `element` joins what a container holds,
    `items` are its parts where the length is known, `fields` their names. `name` is the qualified
    class of a module.
    """

    tag: Tag
    none: bool = False
    optional: bool = False
    presumed: bool = False
    zero_dim: bool = False
    bool_dtype: bool = False
    data_shape: bool = False
    element: Kind | None = None
    items: tuple[Kind, ...] | None = None
    fields: tuple[str, ...] = ()
    name: str | None = None

    @property
    def reads_data(self) -> bool:
        """Whether the truth of such a value is (on some path) tensor data."""
        return self.tag in DATA

    @property
    def sure_tensor(self) -> bool:
        """Whether such a value cannot be anything but a tensor."""
        return self.tag is Tag.TENSOR and not self.optional and not self.presumed

    @property
    def folds(self) -> bool:
        """Whether the truth of such a value is known while tracing."""
        return self.tag in (Tag.STATIC, Tag.CONTAINER, Tag.MODULE, Tag.LOGGER)

    def of_element(self) -> Kind:
        """What iterating or indexing such a value gives."""
        match self.tag:
            case Tag.CONTAINER:
                return self.element or UNKNOWN
            case Tag.TENSOR:
                return replace(self, zero_dim=False, optional=False, fields=())
            case Tag.STATIC | Tag.SCALAR | Tag.NUMPY | Tag.BOTTOM:
                return Kind(self.tag)
        return UNKNOWN


BOTTOM = Kind(Tag.BOTTOM)
STATIC = Kind(Tag.STATIC)
NONE = Kind(Tag.STATIC, none=True)
TENSOR = Kind(Tag.TENSOR)
SCALAR = Kind(Tag.SCALAR)
NUMPY = Kind(Tag.NUMPY)
MODULE = Kind(Tag.MODULE)
LOGGER = Kind(Tag.LOGGER)
MIXED = Kind(Tag.MIXED)
UNKNOWN = Kind(Tag.UNKNOWN)
PRESUMED = Kind(Tag.TENSOR, presumed=True)


def container(element: Kind) -> Kind:
    """A container of unknown length."""
    return Kind(Tag.CONTAINER, element=element)


def tuple_of(items: Iterable[Kind], fields: tuple[str, ...] = ()) -> Kind:
    """A sequence of known length; static where all its parts are."""
    parts = tuple(items)
    if all(part.tag is Tag.STATIC for part in parts) and parts:
        return STATIC
    return Kind(Tag.CONTAINER, element=join(parts), items=parts, fields=fields)


def join(kinds: Iterable[Kind]) -> Kind:
    """What is known of a value that is one of these."""
    return reduce(_join, kinds, BOTTOM)


def _join(a: Kind, b: Kind) -> Kind:
    if a == b or b.tag is Tag.BOTTOM:
        return a
    if a.tag is Tag.BOTTOM:
        return b
    if a.tag is b.tag:
        return _merge(a, b)
    if a.none or b.none:
        return _optional(b if a.none else a)
    if Tag.UNKNOWN in (a.tag, b.tag):
        return UNKNOWN
    if {a.tag, b.tag} == {Tag.SCALAR, Tag.STATIC}:
        return SCALAR  # a Python value either way
    if a.tag in DATA | {Tag.STATIC} and b.tag in DATA | {Tag.STATIC}:
        return MIXED
    if Tag.CONTAINER in (a.tag, b.tag) and Tag.STATIC in (a.tag, b.tag):
        held = a if a.tag is Tag.CONTAINER else b
        return Kind(Tag.CONTAINER, element=_join(held.of_element(), STATIC))
    return UNKNOWN


def _optional(kind: Kind) -> Kind:
    return kind if kind.tag is Tag.UNKNOWN else replace(kind, optional=True)


def _merge(a: Kind, b: Kind) -> Kind:
    same_length = a.items is not None and b.items is not None and len(a.items) == len(b.items)
    items = tuple(map(_join, a.items or (), b.items or ())) if same_length else None
    return Kind(
        a.tag,
        none=a.none and b.none,
        optional=a.optional or b.optional,
        presumed=a.presumed or b.presumed,
        zero_dim=a.zero_dim and b.zero_dim,
        bool_dtype=a.bool_dtype and b.bool_dtype,
        data_shape=a.data_shape or b.data_shape,
        element=_element(a, b),
        items=items,
        fields=a.fields if a.fields == b.fields else (),
        name=a.name if a.name == b.name else None,
    )


def _element(a: Kind, b: Kind) -> Kind | None:
    if a.tag is not Tag.CONTAINER:
        return None
    return _join(a.element or BOTTOM, b.element or BOTTOM)
