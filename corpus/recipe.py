"""What a recipe for a real model is, and how one is built without downloading weights."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

SEED = 20250916


@dataclass(frozen=True, slots=True)
class Case:
    """A model in eval mode and the keyword arguments of its calls, in order.

    The first call is the one that breaks are counted on. Later calls repeat its shapes with
    other values, change the length where the model allows it, and take other branches.
    """

    model: torch.nn.Module
    calls: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to build one row of the published table, and what was published about it.

    `builder` is `module:function`, a function without arguments that returns a `Case`; it is
    named, not imported, so that reading the registry needs neither torch nor the model library.
    `packages` are the packages that the mended arm mends. `breaks` is the count that this
    shrunken model has unmended (torch 2.13.0, transformers 4.52.4); `goal` is the most that may be
    left after mending, None where nothing is promised yet. `requires` are the packages, pinned,
    that it is measured with. A `lookalike` is a module of our own with the published break.
    """

    name: str
    builder: str
    cause: str
    breaks: int
    goal: int | None = None
    published_breaks: int | None = None
    published_removed: int | None = None
    packages: tuple[str, ...] = ("transformers",)
    requires: tuple[str, ...] = ("transformers==4.52.4",)
    lookalike: bool = False


def build(builder: str) -> Case:
    """Build a case with seeded weights; `builder` is `module:function`."""
    module, _, function = builder.partition(":")
    make: Callable[[], Case] = getattr(importlib.import_module(module), function)
    cases: list[Case] = []

    def model() -> torch.nn.Module:
        cases.append(make())
        return cases[0].model

    return Case(seeded(model).eval(), cases[0].calls)


def seeded(make: Callable[[], torch.nn.Module]) -> torch.nn.Module:
    """The model that `make` builds, with seeded weights.

    Every parameter and buffer that the constructor leaves uninitialised is filled with seeded
    values: read as it is, it would make both the break count and the outputs a coin toss.
    """
    import torch

    torch.manual_seed(SEED)
    # Deterministic mode fills fresh memory with nan (floats) or the largest value (integers),
    # which is how a tensor that nothing was written to is told apart.
    torch.use_deterministic_algorithms(True)
    try:
        model = make()
    finally:
        torch.use_deterministic_algorithms(False)
    seed_uninitialised(model)
    return model


def seed_uninitialised(model: torch.nn.Module) -> list[str]:
    """Give seeded values to the tensors of `model` that still hold nan; returns their names."""
    import torch

    generator = torch.Generator().manual_seed(SEED)
    named: Mapping[str, torch.Tensor] = {
        **dict(model.named_parameters()),
        **dict(model.named_buffers()),
    }
    filled = []
    for name, tensor in named.items():
        if not tensor.is_floating_point() or not torch.isnan(tensor).any():
            continue
        with torch.no_grad():
            values = torch.randn(tensor.shape, generator=generator) * 0.02
            tensor.copy_(torch.where(torch.isnan(tensor), values.to(tensor.dtype), tensor))
        filled.append(name)
    return filled


def tokens(seed: int, batch: int, length: int, low: int = 3, high: int = 90) -> torch.Tensor:
    """Seeded token ids of shape (batch, length), apart from the generator that made the weights."""
    import torch

    return torch.randint(low, high, (batch, length), generator=torch.Generator().manual_seed(seed))


def noise(seed: int, *shape: int) -> torch.Tensor:
    """Seeded standard normal values of the given shape."""
    import torch

    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
