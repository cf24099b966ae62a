"""Calls to try operators with: the samples of torch's own tests, and plain ones for the rest."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any

import torch

from eval.operator_trial import Sample

DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)
Tried = tuple[Any, Callable[..., Any]]


def samples(name: str, each: int, attribute: bool = False) -> Iterator[Sample]:
    """Calls of the operator `name`, at most `each` of one dtype, from torch's own tests."""
    function = _function(name, attribute)
    for info in () if attribute or function is None else _infos().get(_bare(name), ()):
        for dtype in DTYPES:
            if dtype in info.supported_dtypes("cpu"):
                yield from islice(_of(info, function, dtype), each)


def plain_samples(name: str, attribute: bool = False) -> Iterator[Sample]:
    """Calls of the operator `name` with plain arguments; it takes some of them, perhaps."""
    function = _function(name, attribute)
    if function is not None:
        yield from (Sample(function, arguments) for arguments in _plain())


def _of(info: Any, function: Callable[..., Any], dtype: torch.dtype) -> Iterator[Sample]:
    for sample in info.sample_inputs("cpu", dtype, requires_grad=False):
        yield Sample(function, (sample.input, *sample.args), sample.kwargs)


@cache
def _infos() -> dict[str, list[Any]]:
    """What torch's tests know of operators, by bare name."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, list[Any]] = {}
    for info in op_db:
        for name in {info.name, *(alias.name for alias in info.aliases)}:
            found.setdefault(_bare(name), []).append(info)
    return found


def _bare(name: str) -> str:
    """The last part of a name; `add_` is tried like `add`."""
    last = name.rpartition(".")[2]
    return last if last.startswith("__") else last.rstrip("_")


def _function(name: str, attribute: bool) -> Callable[..., Any] | None:
    if attribute:
        return operator.attrgetter(name.rpartition(".")[2])
    found: Any = torch
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found if callable(found) else None


def _plain() -> list[tuple[Any, ...]]:
    x, i = torch.tensor([[0.5, 0.25], [0.75, 1.0]]), torch.tensor([0, 1])
    image = torch.rand(1, 2, 4, 4, generator=torch.Generator().manual_seed(0))
    return [
        *((x,), (i,), (image,), (x, x), (x, 1), (x, 2, 1), (x, x, x), (image, 2), (x, 0, i)),
        *((x, (4,)), (x, 0.5, False), (image, [2, 2], [2, 2]), (x, 0, 0, 1), (x, i, x), (3,)),
        *(((2, 2),), (x, torch.int64), (x, 0.1, 0.3, True), (x.to_sparse(),)),
    ]
