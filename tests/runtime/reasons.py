"""Programs with calls that must run in place, each for one reason."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import torch

from graphmend.runtime import deferral_status
from tests.runtime.observe import Inputs, Program, see


def inputs(*values: list[float], grad: bool = False) -> tuple[Inputs, ...]:
    """A call with one tensor for each of the lists."""
    return tuple(lambda v=v: (torch.tensor(v, requires_grad=grad),) for v in values)


@dataclasses.dataclass(frozen=True)
class InPlace:
    """A program, the reason why a call of it runs in place, and how it is compiled and called."""

    reason: str
    program: Program
    cases: tuple[Inputs, ...]
    dynamic: bool | None
    config: dict[str, Any]

    def check(self) -> None:
        """Compiled it behaves as it does eagerly, and the status has the reason."""
        wanted = [see(self.program, case) for case in self.cases]
        torch._dynamo.reset()
        with torch._dynamo.config.patch(**{"cache_size_limit": 8, **self.config}):
            compiled = torch.compile(self.program, backend="eager", dynamic=self.dynamic)
            got = [see(compiled, case) for case in self.cases]
        assert [one.but_places() for one in got] == [one.but_places() for one in wanted]
        assert any(self.reason in reason for reason in self._found()), self._found()

    def _found(self) -> list[str]:
        source, first = inspect.getsourcelines(self.program)
        return [
            reason
            for (file, line), reason in deferral_status().refused.items()
            if file == inspect.getfile(self.program) and first <= line < first + len(source)
        ]


def collector(programs: list[InPlace], default: tuple[Inputs, ...]) -> Callable[..., Any]:
    """A decorator that adds programs to a list."""

    def in_place(
        reason: str,
        cases: tuple[Inputs, ...] = default,
        dynamic: bool | None = None,
        **config: Any,
    ) -> Callable[[Program], Program]:
        def add(program: Program) -> Program:
            programs.append(InPlace(reason, program, cases, dynamic, config))
            return program

        return add

    return in_place
