"""Running a program in one arm."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from graphmend.verification.arms import INDUCTOR, Arm
from graphmend.verification.observe import Observation, observe
from graphmend.verification.owners import modules_of
from graphmend.verification.program import Maker, Program, seeded

ROUNDS = 2


def run(make: Maker, arm: Arm) -> list[Observation]:
    """What every call showed, in order. Whatever `make` raises is passed on."""
    if not arm.thread:
        return _run(make, arm)
    results: list[list[Observation] | BaseException] = []

    def work() -> None:
        try:
            results.append(_run(make, arm))
        except BaseException as error:
            results.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]


def _run(make: Maker, arm: Arm) -> list[Observation]:
    with _compiler(arm):
        program = _fresh(make, arm)
        count = len(program.inputs)
        call = _call(program, arm)
        if arm.sequence:
            return [_observe(program, call, i, arm) for i in [*range(count)] * ROUNDS]
        seen = []
        for index in range(count):
            if index:
                program = _fresh(make, arm)
                call = _call(program, arm)
            seen.append(_observe(program, call, index, arm))
        return seen


def _fresh(make: Maker, arm: Arm) -> Program:
    if arm.backend is not None:
        torch._dynamo.reset()
    return seeded(make).into(arm.setting)


def _call(program: Program, arm: Arm) -> Callable[..., Any]:
    function = program.function
    if arm.checkpoint:
        inner = function

        def function(*args: Any, **kwargs: Any) -> Any:
            return checkpoint(inner, *args, use_reentrant=False, **kwargs)

    if arm.backend is None:
        return function
    compiled: Callable[..., Any] = torch.compile(
        function, backend=arm.backend, fullgraph=arm.fullgraph
    )
    return compiled


def _observe(program: Program, call: Callable[..., Any], index: int, arm: Arm) -> Observation:
    args, kwargs = program.arguments(index)
    for tensor in _parameters(program):
        tensor.grad = None
    with torch.no_grad() if arm.setting.no_grad else contextlib.nullcontext():
        return observe(
            call,
            args,
            kwargs,
            program.function,
            gradients=not arm.setting.no_grad,
            level=logging.DEBUG,
            keep=arm.within_tolerance,
        )[0]


def _parameters(program: Program) -> Iterator[torch.Tensor]:
    return (p for module in modules_of(program.function) for p in module.parameters())


@contextlib.contextmanager
def _compiler(arm: Arm) -> Iterator[None]:
    """Inductor's options: its own random numbers are not those of eager code."""
    if arm.backend != INDUCTOR:
        yield
        return
    import torch._inductor.config as config

    with config.patch(emulate_precision_casts=arm.exact, fallback_random=True):
        yield
