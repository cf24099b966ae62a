"""What surrounds a call in the traced program: try, with, protocols that catch.

Read from the exception tables of the traced frames. The handlers of an instruction are followed
from the innermost outwards; in front of each stands `PUSH_EXC_INFO`, then `WITH_EXCEPT_START` for
a with statement.
"""

import dataclasses
import enum
import types
import weakref
from typing import Any

from torch._dynamo.variables import ctx_manager

# Context managers of torch that neither swallow exceptions nor change what a print or a record
# does, as far as this version of torch has them.
_HARMLESS = tuple(
    getattr(ctx_manager, name)
    for name in (
        *("GradModeVariable", "InferenceModeVariable", "AutocastModeVariable"),
        *("NullContextVariable", "GenericDeviceVariable", "CUDADeviceVariable"),
        *("DisabledSavedTensorsHooksVariable", "ProfilerContextVariable"),
        *("ProfilerRecordFunctionContextVariable", "SDPAKernelVariable"),
        *("FxTracebackAnnotateVariable", "DynamoConfigPatchVariable", "ErrorOnGraphBreakVariable"),
    )
    if hasattr(ctx_manager, name)
)

# Methods whose exceptions the interpreter or a builtin may catch (AttributeError, IndexError, ...).
_PLAIN_PROTOCOLS = frozenset(
    ("__call__", "__init__", "__new__", "__post_init__", "__enter__", "__init_subclass__")
)


_FINALLY_LINES: weakref.WeakKeyDictionary[types.CodeType, frozenset[int | None]] = (
    weakref.WeakKeyDictionary()
)

_CATCHING = frozenset(("POP_EXCEPT", "CHECK_EXC_MATCH", "CHECK_EG_MATCH"))


class Around(enum.IntEnum):
    """How far what surrounds a call may change what an exception or a report does there."""

    NOTHING = 0
    FINALLY = 1
    """Only clean-up code runs when an exception passes."""
    CATCHES = 2
    """A handler, or a protocol, may catch it."""
    UNKNOWN = 3
    """A context manager that may swallow exceptions or redirect output."""


@dataclasses.dataclass(frozen=True)
class Surroundings:
    """What surrounds a call, over all traced frames.

    `finals` holds the translators of the frames with a finally block around it.
    """

    worst: Around
    finals: tuple[Any, ...]


def frames_of(tx: Any) -> list[Any]:
    """The translators of the traced frames, outermost first."""
    frames = []
    while tx is not None:
        frames.append(tx)
        tx = tx.parent
    return frames[::-1]


def surroundings(tx: Any) -> Surroundings:
    """Classify the handlers around the current instruction of `tx` and of its callers."""
    worst = Around.NOTHING
    finals: list[Any] = []
    for frame in frames_of(tx):
        name = frame.f_code.co_name
        if name.startswith("__") and name.endswith("__") and name not in _PLAIN_PROTOCOLS:
            worst = max(worst, Around.CATCHES)
        for kind in _handlers(frame):
            worst = max(worst, kind)
            if kind is Around.FINALLY:
                finals.append(frame)
    return Surroundings(worst, tuple(finals))


def _targets(tx: Any) -> list[Any]:
    """The handlers that an exception at the current instruction passes, innermost first."""
    found: list[Any] = []
    entry = tx.current_instruction.exn_tab_entry
    while entry is not None and not any(entry.target is t for t in found):
        found.append(entry.target)
        entry = entry.target.exn_tab_entry
    return found


def _handlers(tx: Any) -> list[Around]:
    managers = [
        v.ctx for v in tx.stack if type.__instancecheck__(ctx_manager.WithExitFunctionVariable, v)
    ]
    result = []
    for target in _targets(tx):
        following = _following(tx, target)
        if following and following[0].opname == "WITH_EXCEPT_START":
            manager = managers.pop() if managers else None
            kind = Around.NOTHING if isinstance(manager, _HARMLESS) else Around.UNKNOWN
        elif target.opname != "PUSH_EXC_INFO":
            kind = Around.NOTHING  # restores the handled exception and raises again
        else:
            kind = Around.FINALLY if _always_reraises(tx, target) else Around.CATCHES
        result.append(kind)
    return result


def _following(tx: Any, instruction: Any) -> list[Any]:
    start = tx.indexof[instruction] + 1
    following: list[Any] = tx.instructions[start : start + 1]
    return following


def _always_reraises(tx: Any, handler: Any) -> bool:
    """Whether every way through `handler` ends in raising the exception again (a finally block)."""
    return not any(
        i.opname in _CATCHING or i.opname.startswith("RETURN") for i in _reachable(tx, handler)
    )


def _reachable(tx: Any, handler: Any) -> list[Any]:
    """The instructions that run from `handler` on, up to those that raise again."""
    pending, seen = [tx.indexof[handler]], set()
    while pending:
        index = pending.pop()
        if index in seen:
            continue
        seen.add(index)
        instruction = tx.instructions[index]
        if instruction.opname == "RERAISE" or instruction.opname in _CATCHING:
            continue
        if instruction.target is not None:
            pending.append(tx.indexof[instruction.target])
        if not instruction.opname.startswith(("JUMP_FORWARD", "JUMP_BACKWARD", "RETURN")):
            pending.append(index + 1)
    return [tx.instructions[index] for index in seen]


def is_in_finally(tx: Any) -> bool:
    """Whether the current line of a traced frame belongs to a finally block.

    The compiler writes such a block twice, once as a handler, so its lines show up there.
    """
    return any(_line(frame.current_instruction) in _finally_lines(frame) for frame in frames_of(tx))


def _finally_lines(tx: Any) -> frozenset[int | None]:
    found = _FINALLY_LINES.get(tx.f_code)
    if found is None:
        found = _FINALLY_LINES[tx.f_code] = _read_finally_lines(tx)
    return found


def _read_finally_lines(tx: Any) -> frozenset[int | None]:
    entries = (i.exn_tab_entry for i in tx.instructions if i.exn_tab_entry is not None)
    handlers = {entry.target for entry in entries if entry.target.opname == "PUSH_EXC_INFO"}
    lines: set[int | None] = set()
    for handler in handlers:
        following = _following(tx, handler)
        if following and following[0].opname != "WITH_EXCEPT_START":
            if _always_reraises(tx, handler):
                lines |= {_line(i) for i in _reachable(tx, handler)}
    return frozenset(lines - {None})


def _line(instruction: Any) -> int | None:
    positions = instruction.positions
    return None if positions is None else positions.lineno
