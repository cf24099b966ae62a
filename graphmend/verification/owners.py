"""The objects that a program keeps its state in."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

from graphmend.verification.fingerprint import holds_data, leaves, named_state, vars_of


def modules_of(program: object) -> list[torch.nn.Module]:
    """The outermost modules that a program consists of or closes over."""
    return [item for _, item in _parts(program) if isinstance(item, torch.nn.Module)]


def state_of(program: object) -> Iterator[tuple[str, Any]]:
    """Every leaf of state by name.

    These are parameters, buffers and public attributes of modules, what a function closes over,
    and data in the namespace of the module that defines it.
    """
    for name, item in _parts(program):
        if isinstance(item, torch.nn.Module):
            yield from ((f"{name}.{path}".lstrip("."), leaf) for path, leaf in named_state(item))
        elif holds_data(item):
            yield from leaves(item, name)
        elif not callable(item):
            for attribute, value in vars_of(item).items():
                if not attribute.startswith("_"):
                    yield from leaves(value, f"{name}.{attribute}")
    for name, value in _globals(program).items():
        if not name.startswith("_") and holds_data(value):
            yield from leaves(value, f"global {name}")


def _parts(program: object, name: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(program, torch.nn.Module):
        yield name, program
    elif isinstance(program, functools.partial):
        yield from _parts(program.func, name)
        for key, value in [*enumerate(program.args), *program.keywords.items()]:
            yield from _parts(value, f"{name}({key})")
    elif inspect.ismethod(program):
        yield from _parts(program.__self__, f"{name}self")
    elif inspect.isfunction(program):
        for variable, cell in zip(
            program.__code__.co_freevars, program.__closure__ or (), strict=True
        ):
            with contextlib.suppress(ValueError):  # a variable that has no value yet
                yield f"{name}{variable}", cell.cell_contents
    else:
        yield name, program


def _globals(program: object) -> dict[str, object]:
    module = sys.modules.get(defining_module(program))
    return {} if module is None or module.__name__.startswith("torch") else vars_of(module)


def defining_module(program: object) -> str:
    """The name of the module whose code a program runs first."""
    function: Callable[..., Any] | object = program
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.ismethod(function) or inspect.isfunction(function):
        return str(function.__module__)
    return type(function).__module__


def parts_of(program: object) -> tuple[str, ...]:
    """The modules that define what a program is made of: its function, and classes of modules."""
    classes = [type(m).__module__ for root in modules_of(program) for m in root.modules()]
    return tuple(dict.fromkeys([defining_module(program), *classes]))
