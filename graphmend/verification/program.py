"""A program: something callable, its inputs, and how both are brought into a setting."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from graphmend.verification.arms import DTYPES, Setting, Traits
from graphmend.verification.fingerprint import leaves
from graphmend.verification.owners import modules_of, state_of

Inputs = Sequence[tuple[tuple[Any, ...], dict[str, Any]]]
_SEED = 0


@dataclass(frozen=True, slots=True)
class Program:
    """A callable and the arguments of its calls, in order."""

    function: Callable[..., Any]
    inputs: Inputs

    @classmethod
    def of(cls, function: object, inputs: Iterable[object]) -> Program:
        """Each input is a tuple or list of arguments, a mapping of named ones, or the argument.

        TypeError where `function` is not callable or `inputs` cannot be iterated.
        """
        if not callable(function):
            raise TypeError(f"not callable: {type(function).__name__}")
        return cls(function, [_arguments(item) for item in inputs])

    def arguments(self, index: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """A copy of one input, so that what is written to it does not last."""
        return copy.deepcopy(self.inputs[index])

    def into(self, setting: Setting) -> Program:
        """The program in a setting: its modules are changed, its inputs are new."""
        modules, dtype = modules_of(self.function), None
        if setting.dtype is not None:
            dtype = getattr(torch, setting.dtype)
        for module in modules:
            module.train(setting.training)
            if dtype is not None:
                module.to(dtype)
        if dtype is None:
            return self
        cast = pytree.tree_map_only(torch.Tensor, lambda t: _cast(t, dtype), list(self.inputs))
        return Program(self.function, cast)

    def traits(self) -> Traits:
        """What decides how the program can be run."""
        modules = modules_of(self.function)
        given = [leaf for _, leaf in leaves(list(self.inputs)) if isinstance(leaf, torch.Tensor)]
        state = [leaf for _, leaf in state_of(self.function) if isinstance(leaf, torch.Tensor)]
        floating = {t.dtype for t in (*given, *state) if t.dtype.is_floating_point}
        casts = [name for name in DTYPES if floating - {getattr(torch, name)}]
        return Traits(
            is_module=isinstance(self.function, torch.nn.Module),
            trains=bool(modules) or any(t.requires_grad for t in given),
            casts=tuple(casts),
        )


Maker = Callable[[], Program]


def seed() -> None:
    """Seed the generators, so that both sides begin alike."""
    random.seed(_SEED)
    torch.manual_seed(_SEED)


def seeded(make: Maker) -> Program:
    """Make a program with seeded generators."""
    seed()
    return make()


def _arguments(item: object) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(item, Mapping):
        return (), dict(item)
    return (tuple(item), {}) if isinstance(item, tuple | list) else ((item,), {})


def _cast(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    if not tensor.dtype.is_floating_point:
        return tensor
    return tensor.detach().to(dtype).requires_grad_(tensor.requires_grad)
