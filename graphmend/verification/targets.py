"""From the name of a target to the program it stands for."""

from __future__ import annotations

import copy
import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from graphmend.verification.program import Program
from graphmend.verification.references import Reference, TargetError
from graphmend.verification.spec import Spec

_PAIR = "a pair of a callable and an iterable of its arguments"


def program_of(spec: Spec) -> Program:
    """The program that `spec` names, made anew; TargetError where there is none."""
    if spec.saved is not None:
        return _program(*_saved(spec.saved))
    target = load(spec.target or "")
    if spec.inputs is None:
        return _program(*_made(target, spec.target))
    inputs = load(spec.inputs)
    return _program(_object(target), inputs() if callable(inputs) else inputs)


def load(text: str) -> object:
    """What a reference stands for; TargetError where it stands for nothing."""
    reference = Reference.parse(text)
    found: object = _module(reference)
    try:
        for part in reference.name.split("."):
            found = getattr(found, part)
    except AttributeError as error:
        raise TargetError(f"{reference.module} has no {reference.name!r} ({error})") from error
    return found


def _module(reference: Reference) -> object:
    folder = reference.folder
    if folder is not None and sys.path[:1] != [str(folder)]:
        sys.path.insert(0, str(folder))
    try:
        module = importlib.import_module(reference.module)
    except Exception as error:  # a module may raise anything
        said = f"{type(error).__name__}: {error}"
        raise TargetError(f"cannot import {reference.module}: {said}") from error
    file = getattr(module, "__file__", None)
    if reference.file is not None and Path(file or "").resolve() != reference.file:
        raise TargetError(f"{reference.file} is not what is imported as {reference.module}: {file}")
    return module


def _made(target: object, name: str | None) -> tuple[object, Any]:
    if not callable(target):
        raise TargetError(f"{name} is not callable")
    needed = _needed(target)
    if needed:
        raise TargetError(
            f"{name} takes arguments ({', '.join(needed)}): name what gives them with --inputs, "
            f"or a function without parameters that returns {_PAIR}"
        )
    made = target()
    if not (isinstance(made, tuple) and len(made) == 2 and callable(made[0])):
        raise TargetError(f"{name}() returned {type(made).__name__}, not {_PAIR}")
    return made[0], made[1]


def _object(target: object) -> object:
    """What is called: a class of modules and a function without parameters make it."""
    if isinstance(target, torch.nn.Module):
        return copy.deepcopy(target)
    makes = isinstance(target, type) or (
        inspect.isfunction(target) and not inspect.signature(target).parameters
    )
    return target() if makes and callable(target) else target


def _needed(target: Callable[..., object]) -> list[str]:
    """The parameters that a call has to give."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return []
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in variable]


def _saved(path: str) -> tuple[object, Any]:
    try:
        function, inputs = torch.load(path, weights_only=False)
    except Exception as error:  # what it was saved from may not be importable here
        raise TargetError(f"cannot load it again: {type(error).__name__}: {error}") from error
    return function, inputs


def _program(function: object, inputs: Any) -> Program:
    try:
        program = Program.of(function, inputs)
    except TypeError as error:
        raise TargetError(f"expected {_PAIR}: {error}") from error
    if not program.inputs:
        raise TargetError("there are no inputs")
    called: Any = getattr(function, "forward", function)
    for index, (args, kwargs) in enumerate(program.inputs):
        try:
            inspect.signature(called).bind(*args, **kwargs)
        except TypeError as error:
            raise TargetError(f"input {index} does not fit the callable: {error}") from error
        except ValueError:  # a callable without a signature
            break
    return program
