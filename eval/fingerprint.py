"""Values as short texts that are equal exactly where the values are, bit for bit.

Processes that must not influence each other can then be compared without sharing a tensor.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch

Leaves = dict[str, str]
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def fingerprint(value: object) -> Leaves:
    """Every leaf of `value` by its path, with type, layout and a digest of its bytes."""
    return {path: _text(leaf) for path, leaf in leaves(value)}


def leaves(value: object, path: str = "", seen: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """The tensors and plain values inside containers, dataclasses and objects, in order.

    A container itself is a leaf too, by the name of its type, so that an empty one counts. An
    object met inside itself is not entered again.
    """
    if isinstance(value, (torch.Tensor, *_PLAIN)):
        yield path or "value", value
        return
    yield f"{path}:{type(value).__name__}", type(value).__name__
    if id(value) in seen:
        return
    for name, child in _children(value):
        yield from leaves(child, f"{path}{name}", (*seen, id(value)))


def _children(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        yield from ((f"[{key!r}]", child) for key, child in value.items())
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{i}]", child) for i, child in enumerate(value))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from ((f".{f.name}", getattr(value, f.name)) for f in dataclasses.fields(value))
    elif not isinstance(value, type) and not callable(value):
        yield from ((f".{name}", child) for name, child in vars_of(value).items())


def vars_of(value: object) -> dict[str, object]:
    """The attributes of an object, empty where it keeps none."""
    return dict(getattr(value, "__dict__", {}))


def _text(leaf: object) -> str:
    if not isinstance(leaf, torch.Tensor):
        return f"{type(leaf).__name__} {leaf!r}"
    layout = f"{str(leaf.dtype).removeprefix('torch.')}{list(leaf.shape)} strides {leaf.stride()}"
    grad = " requires_grad" if leaf.requires_grad else ""
    return f"{layout} {leaf.device}{grad} {_digest(leaf)}"


def _digest(tensor: torch.Tensor) -> str:
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    return hashlib.sha256(data).hexdigest()[:16]


def model_state(model: torch.nn.Module) -> Leaves:
    """Parameters, buffers and plain public attributes of a model and all its submodules."""
    named: dict[str, object] = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    for prefix, module in model.named_modules():
        for name, value in vars_of(module).items():
            if not name.startswith("_") and isinstance(value, _PLAIN):
                named[f"{prefix}.{name}".lstrip(".")] = value
    return {name: _text(value) for name, value in named.items()}
