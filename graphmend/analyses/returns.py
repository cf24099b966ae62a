"""The kind of what a function returns, by its body or by what it promises."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from graphmend.analyses.annotations import annotated
from graphmend.analyses.kind import NONE, UNKNOWN, Kind, Tag, container, join
from graphmend.ir.module import Function

if TYPE_CHECKING:
    from graphmend.analyses.kinds import Kinds


def summary(kinds: Kinds, function: Function) -> Kind:
    """What a call of the function returns, by its body; by its annotation where that is silent."""
    node = function.node
    if isinstance(node, ast.Lambda):
        return kinds.evaluate(node.body, function)
    if isinstance(node, ast.AsyncFunctionDef):
        return UNKNOWN
    promised = annotated(node.returns, function.module, function)
    if promised.tag in (Tag.TENSOR, Tag.LOGGER):
        return promised
    found = _yielded(kinds, function) or join(
        kinds.evaluate(n.value, function) if n.value is not None else NONE
        for n in kinds.nodes(function)
        if isinstance(n, ast.Return)
    )
    if found.tag is Tag.BOTTOM:
        found = NONE
    return promised if found.tag is Tag.UNKNOWN or found.none else found


def _yielded(kinds: Kinds, function: Function) -> Kind | None:
    yields = [n for n in kinds.nodes(function) if isinstance(n, ast.Yield | ast.YieldFrom)]
    if not yields:
        return None
    values = [n.value if isinstance(n, ast.Yield) else None for n in yields]
    return container(join(UNKNOWN if v is None else kinds.evaluate(v, function) for v in values))
