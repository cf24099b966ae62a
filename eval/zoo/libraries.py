"""The libraries that the zoo knows, each by a module with the same functions."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, cast

from eval.zoo.shrink import Plan

if TYPE_CHECKING:
    import torch

LIBRARIES = {
    "transformers": "eval.zoo.transformers_zoo",
    "diffusers": "eval.zoo.diffusers_zoo",
    "timm": "eval.zoo.timm_zoo",
}


class Library(Protocol):
    """What the zoo asks of a library. `PACKAGE` is what is mended."""

    PACKAGE: str

    def preload(self) -> None:
        """Import what most of its architectures share."""

    def names(self) -> list[str]:
        """All architectures."""

    def classes(self, name: str) -> list[str]:
        """The class of the base variant, and that of the head where there is one."""

    def plans(self, name: str) -> Iterator[Plan]:
        """The plans worth trying for an architecture."""

    def small_model(self, name: str, cls: str, plan: Plan) -> torch.nn.Module:
        """The model of a plan; raises what its constructor raises."""


def library(name: str) -> Library:
    """The library of that name, or the module of that name for one that is not listed.

    Importing it does not import the library's own package.
    """
    return cast(Library, importlib.import_module(LIBRARIES.get(name, name)))
