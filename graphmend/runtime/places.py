"""Where a deferred call stands in the program, as its records and tracebacks must show it."""

import sys
from typing import Any

import torch
from torch._dynamo.resume_execution import ContinueExecutionCache

from graphmend.runtime.handlers import frames_of
from graphmend.runtime.replay import Frame, Modes


def place_of(tx: Any) -> tuple[Frame, ...]:
    """The frames from the outermost traced one to the site, with the lines they are at."""
    return tuple(_frame(frame) for frame in frames_of(tx))


def is_resumed(tx: Any) -> bool:
    """Whether the frame is the rest of a function, made by TorchDynamo after a graph break."""
    return tx.f_code in ContinueExecutionCache.generated_code_metadata


def line_of(tx: Any) -> int:
    """The line that `tx` is at."""
    positions = tx.current_instruction.positions
    if positions is not None and positions.lineno is not None:
        return int(positions.lineno)
    return int(tx.lineno)


def _frame(tx: Any) -> Frame:
    code = tx.f_code
    metadata = ContinueExecutionCache.generated_code_metadata.get(code)
    if metadata is not None:
        code = metadata.code
    return (
        code.co_filename,
        code.co_name,
        code.co_qualname,
        line_of(tx),
        str(tx.f_globals.get("__name__", "")),
    )


def modes_now() -> Modes:
    """The torch modes of the traced program at this point."""
    modes: list[tuple[str, ...]] = [
        ("inference", str(int(torch.is_inference_mode_enabled()))),
        ("grad", str(int(torch.is_grad_enabled()))),
    ]
    for device in ("cpu", "cuda"):
        dtype = str(torch.get_autocast_dtype(device)).removeprefix("torch.")
        modes.append(("autocast", device, str(int(torch.is_autocast_enabled(device))), dtype))
    return tuple(modes)


def has_own_globals(tx: Any) -> bool:
    """Whether the globals of `tx` are those of an imported module."""
    module = sys.modules.get(str(tx.f_globals.get("__name__", "")))
    return module is not None and module.__dict__ is tx.f_globals
