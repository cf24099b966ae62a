"""Everything that a call shows, as texts by what they are of: two calls agree where these do."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch

from graphmend.verification.fingerprint import leaves
from graphmend.verification.listening import listening

Seen = dict[str, str]
Module = torch.nn.Module
_GRADIENT_FUNCTION = re.compile(r"grad_fn=<.*?>")
# torch appends where it was: other lines in the mended text.
_PLACES = re.compile(r"\n+(from user code:|While executing ).*", re.DOTALL)

_ONCE_A_PROCESS = "(Triggered internally at"  # warnings of operators: whoever is first gets them


def see(call: Callable[..., Any], network: Module, arguments: tuple[Any, ...]) -> Seen:
    """Call once, and backward where something has a gradient function; what showed.

    `call` is the network or its compiled form. Paths begin with output, argument, state, gradient,
    record or error.
    """
    records: list[dict[str, str]] = []
    seen: Seen = {}
    value = None
    network.zero_grad(set_to_none=True)
    torch.default_generator.manual_seed(0)  # what torch.manual_seed does else takes long
    with listening(records):
        try:
            value = call(*arguments)
        except Exception as error:
            seen["error"] = _error(error)
    seen |= _texts("output", value)
    seen |= _texts("argument", arguments)
    seen |= _texts("state", dict(_state(network)))
    seen |= {"record": _records(records)} | _shared(value, arguments, network)
    try:
        _backward(value)
    except Exception as error:
        seen["error in backward"] = _error(error)
    wanted = {f"argument {i}": a for i, a in enumerate(arguments)} | dict(_state(network))
    for name, tensor in wanted.items():
        if isinstance(tensor, torch.Tensor) and tensor.requires_grad and tensor.is_leaf:
            # A gradient of zero may have either sign: sums in another order give the other.
            grad = None if tensor.grad is None else tensor.grad + 0.0
            seen[f"gradient of {name}"] = _text(grad)
    return seen


def differences(one: Seen, other: Seen) -> list[str]:
    """The paths at which they differ."""
    return [path for path in {**one, **other} if one.get(path) != other.get(path)]


def _error(error: Exception) -> str:
    text, kind = _but_places(str(error)), type(error).__qualname__
    if type(error).__module__.startswith("torch"):
        return f"{kind}: {text}"
    args = tuple(_but_places(a) if isinstance(a, str) else a for a in error.args)
    return f"{kind}{args!r} {text} from {type(error.__cause__).__qualname__}"


def _but_places(text: str) -> str:
    return _PLACES.sub("", text)


def _texts(what: str, value: object) -> Seen:
    return {f"{what} {path}": _text(leaf) for path, leaf in leaves(value)}


def _text(leaf: object) -> str:
    if not isinstance(leaf, torch.Tensor):
        return f"{type(leaf).__name__} {leaf!r}"
    grad = " requires_grad" if leaf.requires_grad else ""
    values = leaf.detach().tolist()
    return f"{leaf.dtype} {tuple(leaf.shape)} strides {leaf.stride()}{grad} {values}"


def _records(records: list[dict[str, str]]) -> str:
    shown = [r for r in records if _ONCE_A_PROCESS not in r["message"]]
    texts = [" ".join((r["kind"], r["name"], r["level"], r["message"])) for r in shown]
    return _GRADIENT_FUNCTION.sub("grad_fn", "\n".join(texts))


def _state(network: Module) -> Iterator[tuple[str, object]]:
    yield from network.named_parameters()
    yield from network.named_buffers()
    for prefix, module in network.named_modules():
        for name, value in vars(module).items():
            if not name.startswith("_"):
                yield f"{prefix}.{name}".lstrip("."), value


def _shared(value: object, arguments: tuple[Any, ...], network: Module) -> Seen:
    """Which tensors share their memory with an output: a caller may write to it."""
    held = [(f"argument{path}", leaf) for path, leaf in leaves(arguments)]
    held += [(name, leaf) for name, leaf in _state(network)]
    held += [(f"output{path}", leaf) for path, leaf in leaves(value)]
    outputs = [(path, leaf) for path, leaf in leaves(value) if _has_memory(leaf)]
    return {
        f"memory of output {path}": ", ".join(
            name for name, other in held if _has_memory(other) and _address(other) == _address(leaf)
        )
        for path, leaf in outputs
    }


def _has_memory(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.numel() > 0


def _address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _backward(value: object) -> None:
    """Backward from all outputs, each element with a weight of its own."""
    parts = [t for _, t in leaves(value) if isinstance(t, torch.Tensor) and t.requires_grad]
    weights = itertools.count(1)
    sums = []
    for part in parts:
        size = part.numel()
        weight = torch.tensor([next(weights) for _ in range(size)], dtype=part.dtype)
        sums.append((part.reshape(-1) * weight).sum().double())
    if sums:
        torch.stack(sums).sum().backward()
