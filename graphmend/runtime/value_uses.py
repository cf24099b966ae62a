"""Whether a deferred function can tell a detached value from the value itself.

A deferred tensor carries no gradient history, and the text of a whole tensor shows that history
(`grad_fn=...`). A function that only formats a 0-d tensor, compares it or takes numbers from it
cannot tell.
"""

import dis
import types

_HARMLESS_ATTRIBUTES = frozenset(
    ("item", "tolist", "numel", "nelement", "size", "dim", "shape", "dtype", "device", "ndim")
)
# Not `float`, which warns of a tensor that requires grad.
_CONVERSIONS = frozenset(("int", "bool", "len"))
# Tensor methods whose result is a value like their receiver: no history, nothing written.
_TO_ONE = frozenset(
    """all amax amin any argmax argmin max mean median min nanmean nansum norm prod std sum
    var""".split()
)
_TO_VALUES = _TO_ONE | frozenset(
    """abs bool ceil clamp cpu diff double exp flatten float floor half int isfinite isinf isnan
    log long round sigmoid sqrt square squeeze""".split()
)
# Functions of torch whose result is a truth value of each element: no history.
_TESTS = frozenset(("isfinite", "isinf", "isnan", "isneginf", "isposinf"))
_LOADS = frozenset(("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"))
_PLAIN_LOADS = _LOADS | {"LOAD_CONST", "LOAD_SMALL_INT", "LOAD_GLOBAL"}


def reads_only_numbers(function: types.FunctionType, parameter: str, is_scalar: bool) -> bool:
    """Whether `function` uses `parameter` only in ways that do not show gradient history.

    `is_scalar` says that the argument is a 0-d tensor: formatting one formats its number.
    """
    code = function.__code__
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if parameter not in named or parameter in code.co_cellvars:
        return False
    instructions = [
        i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "EXTENDED_ARG")
    ]
    for index, instruction in enumerate(instructions):
        names = (
            instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        )
        if parameter not in names or not instruction.opname.startswith("LOAD_FAST"):
            continue
        if instruction.opname not in _LOADS or not _is_harmless(instructions, index, is_scalar):
            return False
    return True


def _is_harmless(instructions: list[dis.Instruction], index: int, is_scalar: bool) -> bool:
    before = instructions[index - 1] if index else None
    next_index = index + 1
    while (after := instructions[next_index]).opname in ("LOAD_METHOD", "LOAD_ATTR"):
        if after.argval in _HARMLESS_ATTRIBUTES or after.argval == "detach":
            return True
        end = _end_of_call(instructions, next_index) if after.argval in _TO_VALUES else None
        if end is None:
            return False
        # A reduction without arguments, whose call follows at once, gives a 0-d tensor.
        without_arguments = instructions[end - 1].arg == 0
        is_scalar |= after.argval in _TO_ONE and without_arguments
        next_index = end
    if after.opname in ("UNARY_NOT", "TO_BOOL") or after.opname.startswith("POP_JUMP"):
        return True
    if _is_compared(instructions, next_index):
        return True
    if before is not None and before.opname == "LOAD_GLOBAL" and before.argval in _CONVERSIONS:
        return after.opname in ("PRECALL", "CALL") and after.arg == 1
    if before is not None and index > 1 and before.argval in _TESTS:
        owner = instructions[index - 2]
        given_alone = after.opname in ("PRECALL", "CALL") and after.arg == 1
        return owner.opname == "LOAD_GLOBAL" and owner.argval == "torch" and given_alone
    if not is_scalar:
        return False
    if after.opname == "LOAD_CONST":
        after = instructions[next_index + 1]
    if after.opname == "FORMAT_VALUE":
        return (after.arg or 0) & 3 == 0
    return after.opname in ("FORMAT_SIMPLE", "FORMAT_WITH_SPEC")


def _is_compared(instructions: list[dis.Instruction], index: int) -> bool:
    """Whether a comparison follows at `index`, after one plain other operand at most."""
    if instructions[index].opname in _PLAIN_LOADS:
        index += 1
        while instructions[index].opname == "LOAD_ATTR":
            index += 1
    return instructions[index].opname == "COMPARE_OP"


def _end_of_call(instructions: list[dis.Instruction], index: int) -> int | None:
    """The index behind the call of the method loaded at `index`; None unless given constants."""
    position = index + 1
    if instructions[position].opname == "PUSH_NULL":
        position += 1
    count = 0
    while instructions[position].opname.startswith(("LOAD_CONST", "LOAD_SMALL_INT")):
        position, count = position + 1, count + 1
    if instructions[position].opname == "PRECALL":
        position += 1
    call = instructions[position]
    return position + 1 if call.opname == "CALL" and call.arg == count else None
