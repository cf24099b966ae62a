"""How kinds combine: operators, comparisons, indexing, unpacking."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace

from graphmend.analyses.kind import (
    BOTTOM,
    MIXED,
    NUMPY,
    SCALAR,
    STATIC,
    TENSOR,
    UNKNOWN,
    Kind,
    Tag,
    container,
    join,
)

_IDENTITY = (ast.Is, ast.IsNot)
MEMBERSHIP = (ast.In, ast.NotIn)
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor)


def binds(target: ast.expr, name: str) -> bool:
    """Whether the assignment target binds the name."""
    match target:
        case ast.Name(id=found):
            return found == name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return any(binds(part, name) for part in parts)
        case ast.Starred(value=value):
            return binds(value, name)
    return False


def part_of(target: ast.expr, name: str, kind: Kind) -> Kind:
    """What `name` gets where `kind` is unpacked into `target`."""
    match target:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            starred = any(isinstance(part, ast.Starred) for part in parts)
            fits = kind.items is not None and len(kind.items) == len(parts) and not starred
            for i, part in enumerate(parts):
                if binds(part, name):
                    piece = kind.items[i] if fits and kind.items else kind.of_element()
                    return (
                        container(piece)
                        if isinstance(part, ast.Starred)
                        else part_of(part, name, piece)
                    )
    return kind


def arithmetic(kinds: Iterable[Kind]) -> Kind:
    """The kind of an elementwise operator over these operands."""
    parts = list(kinds)
    tags = {part.tag for part in parts}
    if Tag.TENSOR in tags:
        tensors = [part for part in parts if part.tag is Tag.TENSOR]
        plain = tags <= {Tag.TENSOR, Tag.STATIC, Tag.SCALAR}
        return replace(
            TENSOR,
            zero_dim=plain and all(t.zero_dim for t in tensors),
            data_shape=any(t.data_shape for t in tensors),
        )
    for tag, result in ((Tag.NUMPY, NUMPY), (Tag.MIXED, MIXED), (Tag.SCALAR, SCALAR)):
        if tag in tags:
            return result
    if tags <= {Tag.STATIC}:
        return STATIC
    return BOTTOM if Tag.BOTTOM in tags and Tag.UNKNOWN not in tags else UNKNOWN


def binary(op: ast.operator, left: Kind, right: Kind) -> Kind:
    if Tag.CONTAINER in (left.tag, right.tag) and Tag.TENSOR not in (left.tag, right.tag):
        if left.tag is right.tag:
            return container(join([left.of_element(), right.of_element()]))
        return container((left if left.tag is Tag.CONTAINER else right).of_element())
    result = arithmetic([left, right])
    if result.tag is Tag.TENSOR and isinstance(op, _BITWISE):
        both = all(k.bool_dtype for k in (left, right) if k.tag is Tag.TENSOR)
        return replace(result, bool_dtype=both)
    return result


def python_truth(kind: Kind) -> Kind:
    if kind.reads_data:
        return SCALAR
    return STATIC if kind.folds else kind


def compare(node: ast.Compare, again: Callable[[ast.expr], Kind]) -> Kind:
    sides = [node.left, *node.comparators]
    steps = zip(node.ops, sides, sides[1:], strict=False)
    return join(_comparison(op, a, b, again) for op, a, b in steps)


def _comparison(
    op: ast.cmpop, left: ast.expr, right: ast.expr, again: Callable[[ast.expr], Kind]
) -> Kind:
    if isinstance(op, _IDENTITY):
        truth = isinstance(right, ast.Constant) and isinstance(right.value, bool)
        return SCALAR if truth and again(left).tag is Tag.SCALAR else STATIC
    a, b = again(left), again(right)
    if isinstance(op, MEMBERSHIP):
        if _is_text(left):
            return STATIC
        if b.reads_data or holds_tensors(b) or a.reads_data:
            return SCALAR
        return STATIC if a.folds and b.folds else UNKNOWN
    if _is_text(left) or _is_text(right):
        return STATIC
    if Tag.CONTAINER in (a.tag, b.tag):
        held = [k for k in (a, b) if k.reads_data or holds_tensors(k)]
        return SCALAR if held else STATIC if a.folds and b.folds else UNKNOWN
    if a.folds and b.folds:
        return STATIC
    result = arithmetic([a, b])
    return replace(result, bool_dtype=True) if result.tag is Tag.TENSOR else result


def _is_text(node: ast.expr) -> bool:
    """A comparison with a string never looks at tensor data."""
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str))


def holds_tensors(kind: Kind) -> bool:
    return kind.tag is Tag.CONTAINER and kind.of_element().reads_data


def spread(node: ast.expr, kind: Kind) -> Kind:
    return kind.of_element() if isinstance(node, ast.Starred) else kind


def subscript(node: ast.Subscript, base: Kind, again: Callable[[ast.expr], Kind]) -> Kind:
    index = again(node.slice)
    if base.tag is Tag.UNKNOWN and slices_dimensions(node.slice):
        base = TENSOR
    if base.tag is Tag.TENSOR:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        kinds = [again(part) for part in parts]
        grows = any(k.data_shape or k.bool_dtype and k.tag is Tag.TENSOR for k in kinds)
        return replace(TENSOR, bool_dtype=base.bool_dtype, data_shape=base.data_shape or grows)
    if base.items is not None and isinstance(node.slice, ast.Constant):
        position = node.slice.value
        if isinstance(position, int) and -len(base.items) <= position < len(base.items):
            return base.items[position]
    if base.tag is Tag.CONTAINER and isinstance(node.slice, ast.Slice):
        return container(base.of_element())
    if base.tag is Tag.STATIC and index.tag in (Tag.TENSOR, Tag.SCALAR):
        return SCALAR
    return base.of_element()


def slices_dimensions(index: ast.expr) -> bool:
    """Whether an index like `[:, 2:]` or `[..., 0]` can only be one of an array."""
    parts = index.elts if isinstance(index, ast.Tuple) else []
    return any(isinstance(part, ast.Slice) or _is_ellipsis(part) for part in parts)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
