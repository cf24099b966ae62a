"""The model files of timm, each by its smallest model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from eval.zoo.shrink import Plan

if TYPE_CHECKING:
    import torch

PACKAGE = "timm"
_CLASSES = 10
# The words for sizes in the names of models, the smallest first.
_SIZES = ("test", "atto", "femto", "pico", "nano", "xxs", "xs", "tiny", "mini", "small", "s0", "18")


def preload() -> None:
    """Import what all models share."""
    import timm

    assert timm.list_models


def names() -> list[str]:
    """Every module that registers models."""
    import timm

    return [name for name in sorted(timm.list_modules()) if timm.list_models(module=name)]


def classes(name: str) -> list[str]:
    """The smallest model of the module by name, without and with its classifier."""
    import timm

    smallest = min(timm.list_models(module=name), key=lambda model: (_size(model), len(model)))
    return [f"{smallest} features", smallest]


def plans(name: str) -> Iterator[Plan]:
    """One plan: models are taken as they are."""
    yield Plan(1, None, False)


def small_model(name: str, cls: str, plan: Plan) -> torch.nn.Module:
    """The model with few classes, or without a classifier."""
    import timm

    model, _, features = cls.partition(" ")
    made: torch.nn.Module = timm.create_model(model, num_classes=0 if features else _CLASSES)
    return made


def _size(model: str) -> int:
    words = re.split(r"[_.]", model)
    return next((at for at, word in enumerate(_SIZES) if word in words), len(_SIZES))
