"""Kinds that annotations promise."""

from __future__ import annotations

import ast

from graphmend.analyses.kind import (
    BOTTOM,
    LOGGER,
    NONE,
    STATIC,
    TENSOR,
    UNKNOWN,
    Kind,
    Tag,
    container,
    join,
    tuple_of,
)
from graphmend.ir.module import Function, Module

_TENSORS = frozenset(
    {"torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch._tensor.Tensor"}
    | {
        f"torch.{t}Tensor"
        for t in "Float Half BFloat16 Double Long Int Short Byte Bool Char".split()
    }
)
_STATIC = frozenset("bool int float str bytes complex type slice range".split())
_STATIC_TORCH = frozenset({"torch.dtype", "torch.device", "torch.Size", "torch.layout"})
_LOGGERS = frozenset({"logging.Logger", "logging.LoggerAdapter"})
_SEQUENCES = frozenset(
    "list List tuple Tuple set Set frozenset FrozenSet Sequence Iterable".split()
)
_SEQUENCES |= {"Iterator", "Generator", "Collection", "MutableSequence", "deque"}
_MAPPINGS = frozenset(
    "dict Dict Mapping MutableMapping OrderedDict DefaultDict defaultdict".split()
)


def annotated(annotation: ast.expr | None, module: Module, function: Function | None) -> Kind:
    """The kind that an annotation promises; UNKNOWN where it promises none of ours."""
    match annotation:
        case None:
            return UNKNOWN
        case ast.Constant(value=None):
            return NONE
        case ast.Constant(value=str() as text):
            try:
                return annotated(ast.parse(text, mode="eval").body, module, function)
            except SyntaxError:
                return UNKNOWN
        case ast.BinOp(op=ast.BitOr()):
            sides = (annotation.left, annotation.right)
            return join(annotated(side, module, function) for side in sides)
        case ast.Subscript():
            return _subscript(annotation, module, function)
        case ast.Name() | ast.Attribute():
            return _plain(annotation, module, function)
    return UNKNOWN


def _plain(node: ast.Name | ast.Attribute, module: Module, function: Function | None) -> Kind:
    # A string annotation is not part of the tree: its names resolve at the function's place.
    name = module.qualified(node, function) or ""
    last = node.id if isinstance(node, ast.Name) else node.attr
    if name in _TENSORS or last == "Tensor":
        return TENSOR
    if name in _LOGGERS:
        return LOGGER
    if name in _STATIC_TORCH or name.removeprefix("builtins.") in _STATIC:
        return STATIC
    if last in _SEQUENCES | _MAPPINGS:
        return container(UNKNOWN)
    # Configuration objects hold plain values, which Dynamo guards on.
    return STATIC if last.endswith("Config") else UNKNOWN


def _subscript(node: ast.Subscript, module: Module, function: Function | None) -> Kind:
    head = node.value
    last = (
        head.id
        if isinstance(head, ast.Name)
        else head.attr
        if isinstance(head, ast.Attribute)
        else ""
    )
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if last == "Literal":
        return STATIC
    parts = [annotated(part, module, function) for part in inner if not _is_ellipsis(part)]
    if last == "Optional":
        return join([*parts, NONE])
    if last == "Union":
        return join(parts)
    if last in ("Annotated", "Final", "ClassVar"):
        return parts[0]
    if last in ("tuple", "Tuple") and len(parts) == len(inner):
        return tuple_of(parts)
    if last in _SEQUENCES:
        return _holding(parts[0])
    return _holding(parts[-1]) if last in _MAPPINGS else UNKNOWN


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _holding(element: Kind) -> Kind:
    """Ints in a list are as static as the list."""
    return (
        STATIC if element.tag is Tag.STATIC else container(BOTTOM if element is None else element)
    )
