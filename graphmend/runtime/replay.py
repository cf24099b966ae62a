"""What the compiled code calls: deferred functions, in frames that show the site they stand for.

A deferred function runs after the graph, called by code that TorchDynamo generated for the
outermost frame. Records, warnings and tracebacks look at the frames below them, so each inlined
frame between the outermost one and the site is replaced by a small frame with its file, name, line
and globals.
"""

import contextlib
import copy
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

Frame = tuple[str, str, str, int, str]
"""File, function name, qualified name, line and module of one frame of the program."""

Modes = tuple[tuple[str, ...], ...]
"""Torch modes active at the site: ("grad", "1"), ("autocast", device, "1", dtype), ..."""

_NOTE = "graphmend: this check ran at the end of the compiled region, after what follows it there."

_entries: dict[tuple[object, ...], Callable[..., None]] = {}
_listeners: list[Callable[[types.CodeType], None]] = []


def on_made(listener: Callable[[types.CodeType], None]) -> None:
    """Call `listener` with the code of everything that compiled code calls here."""
    _listeners.append(listener)
    for function in (entry, raise_traced):
        listener(function.__code__)


def entry(
    function: Callable[..., None],
    frames: tuple[Frame, ...],
    runner: Frame | None,
    restores: int,
    modes: Modes,
    gates: tuple[bool, ...] = (),
) -> Callable[..., None]:
    """The callable that runs `function` as if called from the innermost of `frames`.

    `frames` are the inlined frames, outermost first. With `runner` the call goes through a frame
    of that place, which restores what a failing check must not leave behind (the first 2 *
    `restores` arguments are tensors and their copies) and sets `modes`. Without it nothing stands
    between the caller and `frames`. With `gates` the outermost of `frames` takes so many truth
    values before the other arguments, and goes on only if each of them is as its gate wants it.
    """
    key = (function, frames, runner, restores, modes, gates)
    found = _entries.get(key)
    if found is None:
        call: Callable[..., None] = function
        for frame in reversed(frames[1:] if gates else frames):
            call = _placed(_pass_on, frame, call)
        if gates:
            call = _placed(_pass_if, frames[0], call, gates)
        if runner is not None:
            call = _placed(_check_runner, runner, call, restores, modes)
        found = _entries[key] = call
    return found


def _pass_on(call: Callable[..., None]) -> Callable[..., None]:
    return lambda *args, **kwargs: call(*args, **kwargs)


def _pass_if(call: Callable[..., None], gates: tuple[bool, ...]) -> Callable[..., None]:
    count, all_open = len(gates), _all_open

    def pass_if(*args: Any, **kwargs: Any) -> None:
        if all_open(args, gates):
            call(*args[count:], **kwargs)

    return pass_if


def _all_open(conditions: tuple[Any, ...], gates: tuple[bool, ...]) -> bool:
    return all(bool(c) is wanted for c, wanted in zip(conditions, gates, strict=False))


def _check_runner(call: Callable[..., None], restores: int, modes: Modes) -> Callable[..., None]:
    failed, entered = _failed, _entered

    def runner(*args: Any, **kwargs: Any) -> None:
        try:
            with entered(modes):
                call(*args[2 * restores :], **kwargs)
        except BaseException as error:
            failed(error, args[: 2 * restores])
            raise

    return runner


def _failed(error: BaseException, pairs: tuple[Any, ...]) -> None:
    """Undo the writes that follow the check in the program, and say where it ran."""
    import torch

    for tensor, before in zip(pairs[::2], pairs[1::2], strict=True):
        with torch.inference_mode(tensor.is_inference()), torch.no_grad():
            tensor.copy_(before)
    error.add_note(_NOTE)


@contextlib.contextmanager
def _entered(modes: Modes) -> Iterator[None]:
    import torch

    with contextlib.ExitStack() as stack:
        for name, *values in modes:
            if name == "grad":
                stack.enter_context(torch.set_grad_enabled(values[0] == "1"))
            elif name == "inference":
                stack.enter_context(torch.inference_mode(values[0] == "1"))
            else:
                device, enabled, dtype = values
                stack.enter_context(
                    torch.autocast(device, getattr(torch, dtype), enabled=enabled == "1")
                )
        yield


def _placed(
    factory: Callable[..., Callable[..., None]], frame: Frame, *closed: Any
) -> Callable[..., None]:
    """The function `factory(*closed)` makes, with the place and the globals of `frame`."""
    filename, name, qualname, line, module = frame
    made = factory(*closed)
    assert isinstance(made, types.FunctionType)
    code = made.__code__.replace(
        co_filename=filename,
        co_name=name,
        co_qualname=qualname,
        co_firstlineno=line,
        co_linetable=_one_line_table(made.__code__),
    )
    placed = types.FunctionType(code, _globals_of(module), name, None, made.__closure__)
    placed.__kwdefaults__ = made.__kwdefaults__
    for listener in _listeners:
        listener(code)
    return placed


def _globals_of(module: str) -> dict[str, Any]:
    found = sys.modules.get(module)
    return {"__name__": module} if found is None else found.__dict__


def _one_line_table(code: types.CodeType) -> bytes:
    """A location table in which every instruction stands on the first line (PEP 626, form 13)."""
    units = len(code.co_code) // 2
    table = bytearray()
    while units > 0:
        length = min(units, 8)
        table += bytes((0x80 | (13 << 3) | (length - 1), 0))
        units -= length
    return bytes(table)


def raise_traced(error: Exception) -> None:
    """Raise what tracing the program raised, after the calls that come before it."""
    raise copy.copy(error)
