"""One call of an operator observed: what it writes, shares and draws; which data makes it fail."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

# What tensors are filled with, to see whether an operator fails on data of the same form.
_FLOATS = (0.0, -1.0, 2.0, float("inf"), float("nan"))
_INTS = (0, -1, -50, 50)
_BOOLS = (False, True)


@dataclass(frozen=True, slots=True)
class Sample:
    """One call of an operator under its Python name; a method's receiver comes first."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    def again(self) -> Sample:
        """The same call with arguments of its own."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            args = tuple(copy.deepcopy(a) for a in self.args)
            return Sample(
                self.function, args, {k: copy.deepcopy(v) for k, v in self.kwargs.items()}
            )

    def given(self) -> dict[int | str, Any]:
        """The arguments by position or name."""
        return {**dict(enumerate(self.args)), **self.kwargs}


@dataclass(slots=True)
class Seen:
    """What calls of an operator did; arguments by position or name."""

    works: bool = False
    writes: set[int | str] = field(default_factory=set)
    aliases: set[int | str] = field(default_factory=set)
    random: bool = False
    fails: str | None = None
    settings: bool = False
    error: str = ""


def observe(sample: Sample, vary: bool = True) -> Seen:
    """Call once, then again with the data of each tensor replaced, unless `vary` is off."""
    seen = Seen()
    try:
        _call(sample, seen)
    except Exception as error:
        seen.error = _first_line(error)
        return seen
    seen.works = True
    for changed in _with_other_data(sample) if vary else ():
        try:
            _call(changed, seen)
        except Exception as error:
            seen.fails = seen.fails or _first_line(error)
    return seen


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".split("\n", 1)[0][:120]


def _call(sample: Sample, seen: Seen) -> Any:
    """One call on arguments of its own; what it did besides is added to `seen`."""
    own = sample.again()
    arguments = {key: list(tensors(value)) for key, value in own.given().items()}
    before = {key: [_state(t) for t in found] for key, found in arguments.items()}
    where = {_address(t): key for key, found in arguments.items() for t in found if _address(t)}
    torch.manual_seed(0)
    generator, settings = torch.get_rng_state(), _settings()
    result = own.function(*own.args, **own.kwargs)
    seen.random |= not torch.equal(generator, torch.get_rng_state())
    seen.settings |= settings != _settings()
    for key, found in arguments.items():
        if any(not _same(old, _state(t)) for old, t in zip(before[key], found, strict=True)):
            seen.writes.add(key)
        if any(t is r for t in found for r in tensors(result)):
            seen.aliases.add(key)
    seen.aliases |= {where[_address(t)] for t in tensors(result) if _address(t) in where}
    return result


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in an argument or a result."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item)


def _state(tensor: torch.Tensor) -> tuple[Any, ...]:
    """What a write in place changes: data, version, form and flags."""
    form = (tensor.shape, tensor.dtype, tensor.layout, tensor.requires_grad, tensor._version)
    if tensor.layout is not torch.strided:
        return form
    return (
        *form,
        tensor.stride(),
        tensor.storage_offset(),
        _address(tensor),
        tensor.detach().clone(),
    )


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return len(one) == len(other) and all(map(_equal, one, other))


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return one.shape == other.shape and torch.equal(_bits(one), _bits(other))
    return bool(one == other)


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_quantized:
        tensor = tensor.int_repr()
    return tensor.resolve_conj().resolve_neg().contiguous().view(-1).view(torch.uint8)


def _address(tensor: torch.Tensor) -> int:
    """Where the memory of a tensor begins; 0 for none."""
    return tensor.untyped_storage().data_ptr() if tensor.layout is torch.strided else 0


def _settings() -> tuple[Any, ...]:
    return (
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
    )


def _with_other_data(sample: Sample) -> Iterator[Sample]:
    """The call with the data of one tensor replaced; its form stays."""
    for key, value in sample.given().items():
        for place in range(len(list(tensors(value)))):
            for filling in _fillings(list(tensors(value))[place]):
                own = sample.again()
                changed = _filled(own.given()[key], place, filling)
                args = tuple(changed if i == key else a for i, a in enumerate(own.args))
                kwargs = {k: changed if k == key else v for k, v in own.kwargs.items()}
                yield Sample(own.function, args, kwargs)


def _fillings(tensor: torch.Tensor) -> tuple[Any, ...]:
    if tensor.layout is not torch.strided or tensor.is_quantized or not tensor.numel():
        return ()
    if tensor.dtype is torch.bool:
        return _BOOLS
    if tensor.is_floating_point() or tensor.is_complex():
        return _FLOATS
    return _INTS if tensor.is_signed() else (0, 50)


def _filled(value: Any, place: int, filling: Any) -> Any:
    """`value` with the data of its tensor number `place` replaced."""
    changed = list(tensors(value))[place]
    with torch.no_grad():
        changed.set_(torch.full_like(changed, filling).as_subclass(type(changed)))
    return value
