"""Run a program and take down everything that a user could see."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import logging
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch._dynamo

Program = Callable[..., Any]
Inputs = Callable[[], tuple[Any, ...]]


@dataclasses.dataclass
class Seen:
    """What one call showed; `places` are those of records and warnings, innermost frame last."""

    value: Any = None
    error: tuple[type, str, tuple[Any, ...]] | None = None
    text: str = ""
    records: list[tuple[str, str, str]] = dataclasses.field(default_factory=list)
    warned: list[tuple[type, str]] = dataclasses.field(default_factory=list)
    inputs: Any = None
    gradients: Any = None
    places: list[tuple[str, int, str]] = dataclasses.field(default_factory=list)

    def but_places(self) -> Seen:
        return dataclasses.replace(self, places=[])


class _Records(logging.Handler):
    def __init__(self, seen: Seen) -> None:
        super().__init__()
        self._seen = seen

    def emit(self, record: logging.LogRecord) -> None:
        self._seen.records.append((record.name, record.levelname, record.getMessage()))
        self._seen.places.append((record.pathname, record.lineno, record.funcName))


@contextlib.contextmanager
def _listening(seen: Seen) -> Iterator[None]:
    logger, handler = logging.getLogger("runtime"), _Records(seen)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    text = io.StringIO()
    try:
        with contextlib.redirect_stdout(text), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        seen.warned = [
            (w.category, str(w.message)) for w in caught if issubclass(w.category, UserWarning)
        ]
        seen.places += [(w.filename, w.lineno, "") for w in caught if w.category is UserWarning]
    finally:
        seen.text = text.getvalue()
        logger.removeHandler(handler)


def see(program: Program, inputs: Inputs) -> Seen:
    """One call of `program` on fresh `inputs()`, with a backward pass where an input wants it."""
    seen = Seen()
    arguments = inputs()
    leaves = [a for a in arguments if isinstance(a, torch.Tensor) and a.requires_grad]
    with _listening(seen):
        try:
            value = program(*arguments)
            if leaves and isinstance(value, torch.Tensor) and value.requires_grad:
                value.sum().backward()
            seen.value = _plain(value)
        except Exception as error:
            seen.error = (type(error), str(error), error.args)
    seen.inputs = _plain(arguments)
    seen.gradients = [_plain(leaf.grad) for leaf in leaves]
    return seen


def _plain(value: Any) -> Any:
    """`value` in a form that compares bit for bit."""
    if isinstance(value, torch.Tensor):
        flat = value.detach()
        return (
            str(flat.dtype),
            tuple(flat.shape),
            flat.stride(),
            str(flat.tolist()),
            value.requires_grad,
        )
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, torch.nn.Module):
        own = {k: v for k, v in vars(value).items() if not k.startswith("_") and k != "training"}
        return _plain([dict(value.state_dict()), own])
    if hasattr(value, "__dict__") and not callable(value):
        return _plain(vars(value))
    return value


def graphs_of(program: Program, inputs: Inputs) -> int:
    """How many graphs one call compiles to in default mode; 0 when the frame is skipped."""
    torch._dynamo.reset()
    count = 0

    def backend(module: Any, example_inputs: Any) -> Any:
        nonlocal count
        count += 1
        return module.forward

    see(torch.compile(program, backend=backend), inputs)
    return count


def agrees(original: Program, mended: Program, *cases: Inputs, captured: bool = True) -> None:
    """`mended` behaves as `original` does eagerly: eagerly itself and compiled, call after call.

    `captured` says whether it is one graph; where it is not, fullgraph must refuse it.
    """
    wanted = [see(original, inputs) for inputs in cases]
    eager = [see(mended, inputs) for inputs in cases]
    assert [seen.but_places() for seen in eager] == [seen.but_places() for seen in wanted]
    for name, compiled in _compilations(mended, captured):
        torch._dynamo.reset()
        for repeat in range(2):
            for inputs, expected in zip(cases, eager, strict=True):
                got = see(compiled, inputs)
                assert got == expected, f"{name}, call {repeat}: {got} instead of {expected}"
    torch._dynamo.reset()
    assert _in_thread(lambda: see(torch.compile(mended, backend="eager"), cases[0])) == eager[0]
    if not captured:
        torch._dynamo.reset()
        error = see(torch.compile(mended, backend="eager", fullgraph=True), cases[0]).error
        assert error is not None and issubclass(error[0], torch._dynamo.exc.TorchDynamoException)


def _compilations(mended: Program, captured: bool) -> Iterator[tuple[str, Program]]:
    if captured:
        yield "fullgraph", torch.compile(mended, backend="eager", fullgraph=True)
    else:
        yield "default", torch.compile(mended, backend="eager")
    yield "aot_eager", torch.compile(mended, backend="aot_eager")


def _in_thread(work: Callable[[], Any]) -> Any:
    result: list[Any] = []
    thread = threading.Thread(target=lambda: result.append(work()))
    thread.start()
    thread.join()
    return result[0]
