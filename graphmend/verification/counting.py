"""Counts of what torch.compile makes of a program: breaks, frames, graphs, recompiles."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch._dynamo
from torch._dynamo.utils import counters

from graphmend.verification.listening import listening
from graphmend.verification.observe import from_compiler
from graphmend.verification.replayable import obstacles

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
Fresh = Callable[[], tuple[Callable[..., Any], Sequence[Arguments]]]
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted.

    `breaks` belong to the first call, as published: graphs minus one, so -1 where no graph was
    made, and None where that call raises. `frames`, `frames_ok` and `graphs` belong to the first
    call in default mode; `recompiles` and `new_frames` to the later ones, with all inputs in
    order; `late_recompiles` to a third round over the same inputs, when nothing is new. `reasons`
    are Dynamo's reasons for the ends of graphs, each with its user stack. `obstacles` say why
    CUDA graphs could not replay the program as one graph.
    """

    breaks: int | None
    frames: int
    frames_ok: int
    graphs: int
    recompiles: int
    new_frames: int
    late_recompiles: int
    fullgraph: bool
    fullgraph_error: str | None
    obstacles: tuple[str, ...]
    reasons: list[tuple[str, Any]] = field(default_factory=list)


def count(fresh: Fresh) -> Counts:
    """All counts of a program; `fresh` makes it anew, with copies of its inputs.

    Every measurement starts from a fresh object and a reset Dynamo, so that none sees what another
    left behind.
    """
    function, inputs = fresh()
    if inputs:
        _call(function, inputs[0])
    error, found = _fullgraph(fresh)
    return Counts(
        breaks=_published_count(fresh),
        **_default_mode(fresh),
        fullgraph=error is None,
        fullgraph_error=error,
        obstacles=("the program is more than one graph",) if error is not None else found,
    )


def _start(fresh: Fresh) -> tuple[Callable[..., Any], Sequence[Arguments]]:
    torch._dynamo.reset()
    counters.clear()
    return fresh()


def _call(function: Callable[..., Any], arguments: Arguments) -> Exception | None:
    """Call, unheard; what the program raises is not what is counted."""
    args, kwargs = arguments
    with listening([]):
        try:
            function(*args, **kwargs)
        except Exception as error:
            return error
    return None


def _published_count(fresh: Fresh) -> int | None:
    function, inputs = _start(fresh)
    if not inputs:
        return None
    explained: list[Any] = []

    def explain(*args: Any, **kwargs: Any) -> None:
        explained.append(torch._dynamo.explain(function)(*args, **kwargs))

    _call(explain, inputs[0])
    return int(explained[0].graph_break_count) if explained else None


def _default_mode(fresh: Fresh) -> dict[str, Any]:
    """One compiled object in default mode, all inputs in order, round after round."""
    reasons: list[Any] = []

    def backend(module: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        reasons.append(module.compile_subgraph_reason)
        return module.forward

    function, inputs = _start(fresh)
    compiled = torch.compile(function, backend=backend)
    with compiles() as started:
        for arguments in inputs[:1]:
            _call(compiled, arguments)
        frames = {"frames": counters["frames"]["total"], "frames_ok": counters["frames"]["ok"]}
        graphs = len(reasons)
        started.clear()
        for arguments in inputs[1:]:
            _call(compiled, arguments)
        later, ended = list(started), list(reasons)
        for _ in range(_ROUNDS - 1):
            started.clear()
            for arguments in fresh()[1]:
                _call(compiled, arguments)
    return {
        **frames,
        "graphs": graphs,
        "recompiles": len(recompiles(later)),
        "new_frames": len(later) - len(recompiles(later)),
        "late_recompiles": len(recompiles(started)),
        "reasons": breaks(ended),
    }


def breaks(reasons: Iterable[Any]) -> list[tuple[str, Any]]:
    """Of the reasons for the ends of graphs those that are breaks, each with its user stack."""
    return [(r.reason, r.user_stack) for r in reasons if r is not None and r.graph_break]


@contextlib.contextmanager
def compiles() -> Iterator[list[str]]:
    """The ids of what is compiled meanwhile."""
    started: list[str] = []

    def note(arguments: Any) -> None:
        started.append(str(arguments.compile_id))

    handler = torch._dynamo.callback.callback_handler
    handler.register_start_callback(note)
    try:
        yield started
    finally:
        handler.remove_start_callback(note)


def recompiles(identities: Iterable[str]) -> list[str]:
    """A compile id reads frame/attempt: a second attempt at a frame is a recompile, a frame that
    is first met in a later call is not."""
    return [identity for identity in identities if not identity.endswith("/0")]


def _fullgraph(fresh: Fresh) -> tuple[str | None, tuple[str, ...]]:
    """Whether every call passes fullgraph=True, else the first line of what was said."""
    graphs: list[torch.fx.GraphModule] = []

    def backend(module: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        graphs.append(module)
        return module.forward

    function, inputs = _start(fresh)
    compiled = torch.compile(function, backend=backend, fullgraph=True)
    for index, arguments in enumerate(inputs):
        error = _call(compiled, arguments)
        if error is not None and from_compiler(error):
            first_line = (str(error).strip().splitlines() or [""])[0]
            return f"call {index}: {type(error).__name__}: {first_line}", ()
    found = dict.fromkeys(reason for graph in graphs for reason in obstacles(graph))
    return None, tuple(found)
