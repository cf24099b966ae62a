"""Values as short texts that are equal exactly where the values are, bit for bit.

Processes that must not influence each other can then be compared without sharing a tensor.
"""

from __future__ import annotations

import dataclasses
import hashlib
import types
from collections.abc import Iterator, Mapping
from typing import Any

import torch

Leaves = dict[str, str]
_PLAIN = (bool, int, float, complex, str, bytes, type(None), slice, range)
_TORCH = (torch.dtype, torch.device, torch.layout)
_SHOWN = 3


def fingerprint(value: object) -> Leaves:
    """Every leaf of `value` by its path, with type, layout and a digest of its bytes."""
    return {path: text_of(leaf) for path, leaf in leaves(value)}


def leaves(value: object, path: str = "", seen: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """The tensors and plain values inside containers, dataclasses and objects, in order.

    A container itself is a leaf too, by the name of its type, so that an empty one counts. An
    object met inside itself is not entered again.
    """
    if isinstance(value, (torch.Tensor, *_PLAIN, *_TORCH)) or _is_array(value):
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
    elif isinstance(value, (set, frozenset)):
        yield from ((f"{{{i}}}", text) for i, text in enumerate(sorted(map(repr, value))))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from ((f".{f.name}", getattr(value, f.name)) for f in dataclasses.fields(value))
    elif not isinstance(value, type | types.ModuleType) and not callable(value):
        yield from ((f".{name}", child) for name, child in vars_of(value).items())


def vars_of(value: object) -> dict[str, object]:
    """The attributes of an object, empty where it keeps none."""
    return dict(getattr(value, "__dict__", {}))


def text_of(leaf: object) -> str:
    """A leaf as text. For a tensor: layout, place, whether it needs gradients, first values."""
    if _is_array(leaf):
        return f"numpy {text_of(torch.from_numpy(leaf))}"
    if not isinstance(leaf, torch.Tensor):
        return f"{type(leaf).__name__} {leaf!r}"
    return f"{layout_of(leaf)} {_digest(leaf)}"


def layout_of(tensor: torch.Tensor) -> str:
    """Everything about a tensor but its values."""
    shape = f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
    if tensor.layout is not torch.strided:
        return f"{shape} {tensor.layout} {tensor.device}"
    grad = " requires_grad" if tensor.requires_grad else ""
    return f"{shape} strides {tensor.stride()} {tensor.device}{grad}"


def _digest(tensor: torch.Tensor) -> str:
    dense = tensor.detach().to_dense().resolve_conj().resolve_neg()
    flat = dense.cpu().contiguous().reshape(-1)
    data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    first = ", ".join(f"{value:.9g}" for value in flat[:_SHOWN].tolist())
    rest = ", .." if flat.numel() > _SHOWN else ""
    return f"[{first}{rest}] {hashlib.sha256(data).hexdigest()[:16]}"


def _is_array(value: object) -> bool:
    """A numpy array of numbers; numpy itself may be missing."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return type(value).__module__ == "numpy" and hasattr(value, "__array__") and kind in "biufc"


def model_state(model: torch.nn.Module) -> Leaves:
    """Parameters, buffers and public attributes that hold data, of a model and its submodules."""
    return {name: text_of(value) for name, value in named_state(model)}


def named_state(model: torch.nn.Module) -> Iterator[tuple[str, Any]]:
    """The leaves that `model_state` describes, by name."""
    yield from model.named_parameters(remove_duplicate=False)
    yield from model.named_buffers(remove_duplicate=False)
    for prefix, module in model.named_modules():
        for name, value in vars_of(module).items():
            if not name.startswith("_") and holds_data(value):
                yield from leaves(value, f"{prefix}.{name}".lstrip("."))


def holds_data(value: object) -> bool:
    """Whether `value` is data by its type: a plain value, a tensor, or a container."""
    containers = (list, tuple, dict, set)
    return isinstance(value, (torch.Tensor, *_PLAIN, *_TORCH, *containers)) or _is_array(value)
