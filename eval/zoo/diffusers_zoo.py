"""The models of diffusers, each a class with its sizes as arguments."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from eval.zoo.shrink import PLANS, Plan, Tokens, shrunken

if TYPE_CHECKING:
    import torch

PACKAGE = "diffusers"


def preload() -> None:
    """Import what all models share."""
    from diffusers import ModelMixin

    assert ModelMixin


def names() -> list[str]:
    """Every model class that the package exports."""
    from diffusers import ModelMixin, models

    exported = {name for group in models._import_structure.values() for name in group}
    classes = {name: getattr(models, name, None) for name in sorted(exported)}
    return [
        name
        for name, cls in classes.items()
        if isinstance(cls, type) and issubclass(cls, ModelMixin) and "forward" in vars(cls)
    ]


def classes(name: str) -> list[str]:
    """The class itself: there are no heads."""
    return [name]


def plans(name: str) -> Iterator[Plan]:
    """Plans that lead to other arguments."""
    seen = []
    for plan in PLANS:
        if (small := _arguments(name, plan)) not in seen:
            seen.append(small)
            yield plan


def small_model(name: str, cls: str, plan: Plan) -> torch.nn.Module:
    """The model with shrunken arguments; raises what its constructor raises."""
    from diffusers import models

    model: torch.nn.Module = getattr(models, cls)(**_arguments(name, plan))
    return model


def _arguments(name: str, plan: Plan) -> dict[str, Any]:
    from diffusers import models

    parameters = inspect.signature(getattr(models, name).__init__).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    return shrunken(defaults, plan, Tokens())
