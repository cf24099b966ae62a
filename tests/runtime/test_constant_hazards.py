"""Sides whose operators refuse a number in their arguments when they run, not when traced."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from graphmend.runtime import select

_HALF, _BYTE, _LONG = torch.ones(3).half(), torch.ones(3, dtype=torch.uint8), torch.ones(3).long()

FAILING: dict[str, tuple[torch.Tensor, Callable[[torch.Tensor], torch.Tensor]]] = {
    "clamp in half precision": (_HALF, lambda h: h.clamp(max=1e6)),
    "masked_fill in half precision": (_HALF, lambda h: h.masked_fill(h > 3, -1e9)),
    "full_like in half precision": (_HALF, lambda h: torch.full_like(h, 1e9)),
    "clamp of bytes": (_BYTE, lambda h: h.clamp(max=300)),
    "a negative power of integers": (_LONG, lambda h: h**-1),
    "integers divided by zero": (_LONG, lambda h: h // 0),
}


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", FAILING)
@pytest.mark.semantics("W6", "refused")
def test_a_side_that_is_not_taken_does_not_fail(name: str, backend: str) -> None:
    given, side = FAILING[name]

    def entry(x: torch.Tensor) -> torch.Tensor:
        return select(x.sum() > 100, side, lambda h: h + 0, x)

    assert torch.equal(torch.compile(entry, backend=backend)(given), given)


def test_numbers_in_range_are_no_hazard() -> None:
    def entry(x: torch.Tensor) -> torch.Tensor:
        return select(x.sum() > 1, lambda h: h.clamp(-6e4, 6e4) + 1e9, lambda h: h + 0, x)

    compiled = torch.compile(entry, backend="eager", fullgraph=True)
    assert torch.equal(compiled(_HALF), _HALF + 1e9)
