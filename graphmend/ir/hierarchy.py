"""Classes: bases across modules, method resolution order, members, torch.nn.Module or not."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphmend.ir.module import ClassInfo, Function

if TYPE_CHECKING:
    from graphmend.ir.project import Project

UNKNOWN = "?"
Base = ClassInfo | str
"""A class of a parsed module, the dotted name of any other class, or `UNKNOWN`."""

_MODULE_CLASSES = frozenset(
    {"torch.jit.ScriptModule", "torch.fx.GraphModule", "torch.nn.modules.module.Module"}
)
_NOT_MODULES = frozenset(
    {"torch.nn.Parameter", "torch.nn.Buffer", "torch.nn.UninitializedParameter"}
)


def external_is_module(name: str) -> bool:
    """Whether the dotted name is a torch class that derives from (or is) `torch.nn.Module`."""
    if name in _MODULE_CLASSES:
        return True
    prefix, _, last = name.rpartition(".")
    if prefix != "torch.nn" and not prefix.startswith("torch.nn.modules"):
        return False
    return last[:1].isupper() and name not in _NOT_MODULES


class Hierarchy:
    """Answers about classes of one project, memoised."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._orders: dict[ClassInfo, tuple[Base, ...]] = {}
        self._bases: dict[ClassInfo, tuple[Base, ...]] = {}

    def bases(self, info: ClassInfo) -> tuple[Base, ...]:
        """The direct bases, in order; third-party packages are read to follow them."""
        if info not in self._bases:
            self._bases[info] = tuple(self._base(info, base) for base in info.bases)
        return self._bases[info]

    def _base(self, info: ClassInfo, base: ast.expr) -> Base:
        if isinstance(base, ast.Subscript):  # Generic[T]
            base = base.value
        module = info.module
        qualified = module.qualified(base, module.function_of(info.node))
        if qualified is None:
            return UNKNOWN
        found = self._project.follow(qualified, module, third_party=True)
        return found if isinstance(found, ClassInfo | str) and found is not info else UNKNOWN

    def order(self, info: ClassInfo) -> tuple[Base, ...]:
        """The method resolution order, the class first; external classes by their names."""
        if info not in self._orders:
            self._orders[info] = (info,)  # a class that is its own ancestor ends here
            bases = self.bases(info)
            rows: list[list[Base]] = [list(self._order_of(base)) for base in bases]
            self._orders[info] = (info, *_merge([*rows, list(bases)]))
        return self._orders[info]

    def _order_of(self, base: Base) -> tuple[Base, ...]:
        return self.order(base) if isinstance(base, ClassInfo) else (base,)

    def known(self, info: ClassInfo) -> bool:
        """Whether every ancestor could be named."""
        return UNKNOWN not in self.order(info)

    def ancestors(self, info: ClassInfo) -> list[ClassInfo]:
        """The classes of parsed modules in the method resolution order, the class first."""
        return [base for base in self.order(info) if isinstance(base, ClassInfo)]

    def is_nn_module(self, info: ClassInfo) -> bool:
        """Whether an ancestor is known to be `torch.nn.Module`."""
        return any(isinstance(b, str) and external_is_module(b) for b in self.order(info))

    def method(self, info: ClassInfo, name: str, after: ClassInfo | None = None) -> Function | None:
        """The method `name`; with `after`, as `super()` in that class would find it.

        None as well where a class outside the parsed modules comes first and may define it.
        """
        order = self.order(info)
        if after is not None:
            order = order[order.index(after) + 1 :] if after in order else ()
        for base in order:
            if isinstance(base, ClassInfo) and name in base.methods:
                return base.methods[name]
            if base == UNKNOWN:
                return None
        return None

    def subclasses(self, info: ClassInfo) -> list[ClassInfo]:
        """The classes of the same module that derive from `info`."""
        return [
            other
            for other in info.module.classes.values()
            if other is not info and info in self.order(other)
        ]


def _merge(rows: list[list[Base]]) -> list[Base]:
    """The C3 merge; where it has no answer (as Python would say), the rows one after another."""
    merged: list[Base] = []
    rows = [row for row in rows if row]
    while rows:
        for row in rows:
            head = row[0]
            if not any(head in other[1:] for other in rows):
                break
        else:
            return list(dict.fromkeys([*merged, *(base for row in rows for base in row)]))
        merged.append(head)
        rows = [[b for b in row if b != head] for row in rows]
        rows = [row for row in rows if row]
    return merged
