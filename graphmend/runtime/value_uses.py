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
_CONVERSIONS = frozenset(("float", "int", "bool", "len"))
_LOADS = frozenset(("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"))


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
    after = instructions[index + 1]
    if after.opname in ("LOAD_METHOD", "LOAD_ATTR"):
        return after.argval in _HARMLESS_ATTRIBUTES
    if after.opname in ("UNARY_NOT", "COMPARE_OP", "TO_BOOL") or after.opname.startswith(
        "POP_JUMP"
    ):
        return True
    if before is not None and before.opname == "LOAD_GLOBAL" and before.argval in _CONVERSIONS:
        return after.opname in ("PRECALL", "CALL") and after.arg == 1
    if not is_scalar:
        return False
    if after.opname == "LOAD_CONST":
        after = instructions[index + 2]
    if after.opname == "FORMAT_VALUE":
        return (after.arg or 0) & 3 == 0
    return after.opname in ("FORMAT_SIMPLE", "FORMAT_WITH_SPEC")
