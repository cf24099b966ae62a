"""One call of a program, with everything about it that a user could notice."""

from __future__ import annotations

import hashlib
import random
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import torch

from graphmend.verification.fingerprint import Leaves, fingerprint, leaves, text_of
from graphmend.verification.listening import Record, listening
from graphmend.verification.owners import state_of

Tensors = dict[str, torch.Tensor]
_COMPILER = ("torch._dynamo", "torch._inductor", "torch._functorch", "torch.fx")
_SEED = 0


@dataclass(slots=True)
class Observation:
    """What one call did. Leaves are fingerprints by path; records are in program order.

    `exception` is the type and text of what it raised, `raised` its arguments and cause.
    `captured` is False where the compiler gave up on the call, which then did not happen.
    `tensors` holds the values themselves, by aspect, where they were asked for.
    """

    outputs: Leaves = field(default_factory=dict)
    aliases: Leaves = field(default_factory=dict)
    arguments: Leaves = field(default_factory=dict)
    gradients: Leaves = field(default_factory=dict)
    state: Leaves = field(default_factory=dict)
    random: Leaves = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    exception: str | None = None
    raised: Leaves = field(default_factory=dict)
    captured: bool = True
    tensors: dict[str, Tensors] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The observation as JSON-able data, without the tensors."""
        data = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "tensors"}
        return asdict(Observation(**data)) | {"tensors": {}}


def observe(
    call: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    owner: object,
    *,
    gradients: bool = False,
    level: int | None = None,
    keep: bool = False,
) -> tuple[Observation, object]:
    """Call once on these very arguments; returns what was seen and the value itself.

    `call` is `owner` or its compiled form; the state is always read from `owner`. With
    `gradients`, what the call returns is differentiated by everything that needs gradients.
    `level` is the root logger's; `keep` keeps tensors beside their fingerprints.
    """
    seen = Observation()
    value: object = None
    _seed()
    with listening(seen.records, level):
        try:
            value = call(*args, **kwargs)
            if gradients:
                _differentiate(value)
        except Exception as error:  # the original may raise too: it is part of what is compared
            _note_exception(seen, error)
    given = {"args": list(args), "kwargs": dict(kwargs)} if args else dict(kwargs)
    parts = {
        "outputs": list(leaves(value)),
        "arguments": list(leaves(given)),
        "state": list(state_of(owner)),
    }
    parts["gradients"] = list(_gradients(parts["arguments"] + parts["state"])) if gradients else []
    for name, found in parts.items():
        setattr(seen, name, {path: text_of(leaf) for path, leaf in found})
        if keep:
            seen.tensors[name] = {p: v.detach().clone() for p, v in _tensors(found)}
    seen.aliases = _aliases(parts)
    seen.random = _generators()
    return seen, value


def _seed() -> None:
    random.seed(_SEED)
    torch.manual_seed(_SEED)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(_SEED)


def _generators() -> Leaves:
    """Where the random number generators stand after the call."""
    states = {"torch": text_of(torch.get_rng_state()), "random": _digest(random.getstate())}
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        states["cuda"] = text_of(torch.cuda.get_rng_state())
    if "numpy" in sys.modules:
        states["numpy"] = _digest(sys.modules["numpy"].random.get_state())
    return states


def _digest(state: object) -> str:
    return hashlib.sha256(repr(state).encode()).hexdigest()[:16]


def _note_exception(seen: Observation, error: Exception) -> None:
    seen.exception = f"{type(error).__name__}: {error}"
    seen.captured = not from_compiler(error)
    seen.raised = {"class": f"{type(error).__module__}.{type(error).__qualname__}"}
    seen.raised |= {f"args{path}": text for path, text in fingerprint(error.args).items()}
    cause = error.__cause__
    if cause is not None:
        seen.raised["cause"] = "".join(traceback.format_exception_only(cause)).strip()


def from_compiler(error: BaseException) -> bool:
    """Whether the compiler gave up, rather than the program."""
    return type(error).__module__.startswith(_COMPILER)


def _differentiate(value: object) -> None:
    """The backward pass, with a gradient that is not the same for every element."""
    outputs = [leaf for _, leaf in leaves(value) if isinstance(leaf, torch.Tensor)]
    outputs = [leaf for leaf in outputs if leaf.requires_grad]
    if outputs:
        torch.autograd.backward(outputs, [_uneven(leaf) for leaf in outputs])


def _uneven(tensor: torch.Tensor) -> torch.Tensor:
    steps = torch.arange(tensor.numel(), device=tensor.device) % 7
    return ((steps + 1) / 4).to(tensor.dtype).reshape(tensor.shape)


def _gradients(found: Sequence[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """The gradient of everything that needs one; None is not zeros."""
    for path, leaf in _tensors(found):
        if leaf.requires_grad and leaf.is_leaf:
            yield path, leaf.grad


def _aliases(parts: dict[str, list[tuple[str, Any]]]) -> Leaves:
    """Which outputs share memory with an argument, with the state, or with another output."""
    first: dict[int, str] = {}
    found = {}
    for part in ("arguments", "state", "outputs"):
        for path, tensor in _tensors(parts[part]):
            if tensor.layout is not torch.strided or not tensor.numel():
                continue
            memory = tensor.untyped_storage().data_ptr()
            if part == "outputs" and memory in first:
                found[path] = f"shares the memory of {first[memory]}"
            first.setdefault(memory, f"{part} {path}")
    return found


def _tensors(found: Sequence[tuple[str, Any]]) -> Iterator[tuple[str, torch.Tensor]]:
    return ((path, leaf) for path, leaf in found if isinstance(leaf, torch.Tensor))
