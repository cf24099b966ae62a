"""Agreement of values within a tolerance, for a compiler that promises no more."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import torch

from graphmend.verification.agreement import Verdict, first_difference
from graphmend.verification.fingerprint import Leaves
from graphmend.verification.observe import Observation

# Relative and absolute, as in torch.testing.assert_close; integers and others are exact.
TOLERANCES = {
    torch.float64: (1e-7, 1e-7),
    torch.float32: (1.3e-6, 1e-5),
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
_VALUES = ("outputs", "arguments", "state", "gradients")
_NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?|-?\d+e[-+]?\d+")


def compare_within_tolerance(
    known: Sequence[Observation], measured: Sequence[Observation]
) -> dict[str, Verdict]:
    """A verdict an aspect on `measured` against the original compiled alike, `known`.

    Numbers with a fraction in messages are not compared.
    """
    aspects: dict[str, Callable[[Observation, Observation], str | None]] = {
        "exception": lambda a, b: first_difference(
            {"exception": _masked(str(a.exception))}, {"exception": _masked(str(b.exception))}
        ),
        "records": lambda a, b: first_difference(_messages(a), _messages(b)),
        "random": lambda a, b: first_difference(a.random, b.random),
        **{name: _values(name) for name in _VALUES},
    }
    return {name: _verdict(known, measured, differ) for name, differ in aspects.items()}


def _verdict(
    known: Sequence[Observation],
    measured: Sequence[Observation],
    differ: Callable[[Observation, Observation], str | None],
) -> Verdict:
    for index, (one, other) in enumerate(zip(known, measured, strict=True)):
        difference = differ(one, other)
        if difference is not None:
            return Verdict(False, f"call {index}, {difference}")
    return Verdict(True)


def _values(aspect: str) -> Callable[[Observation, Observation], str | None]:
    def differ(one: Observation, other: Observation) -> str | None:
        expected, found = one.tensors[aspect], other.tensors[aspect]
        texts = first_difference(
            _layouts(getattr(one, aspect), expected), _layouts(getattr(other, aspect), found)
        )
        if texts is not None:
            return texts
        far = (path for path in expected if not _close(expected[path], found[path]))
        return next((f"{p}: {_gap(expected[p], found[p])}" for p in far), None)

    return differ


def _layouts(leaves: Leaves, tensors: dict[str, torch.Tensor]) -> Leaves:
    """The leaves, tensors without the values that end their text."""
    return {
        path: text.rpartition(" [")[0] if path in tensors else text for path, text in leaves.items()
    }


def _close(one: torch.Tensor, other: torch.Tensor) -> bool:
    relative, absolute = TOLERANCES.get(one.dtype, (0.0, 0.0))
    return torch.allclose(one, other, rtol=relative, atol=absolute, equal_nan=True)


def _gap(one: torch.Tensor, other: torch.Tensor) -> str:
    gap = (one.double() - other.double()).abs().nan_to_num(torch.inf).max().item()
    return f"up to {gap:.3g} from the original compiled alike"


def _messages(seen: Observation) -> Leaves:
    return {
        f"record {i}": f"{r['kind']} | {r['name']} | {r['level']} | {_masked(r['message'])}"
        for i, r in enumerate(seen.records)
    }


def _masked(text: str) -> str:
    return _NUMBER.sub("#", text)
