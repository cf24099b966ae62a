"""Arguments that reach both sides of what programs test."""

from __future__ import annotations

from eval.fuzz.pen import Lines, Pen

_POOLS = (
    ("1.0", "0.5", "2.0", "0.25"),
    ("-1.0", "-0.5", "-2.0", "-3.0"),
    ("0.0",),
    ("4.0", "9.0", "100.0", "-8.0"),
    ("nan", "1.0", "inf", "-1.0"),
    ("nan",),
    ("-0.0", "0.0", "1.0"),
    ("-inf", "70000.0", "1e-8", "2.0"),
    ("1.0", "-1.0", "3.0", "0.0"),
)
_DTYPES = ("float32", "float32", "float32", "float64", "float16", "bfloat16")
_LEAST, _MOST = 2, 3


def arguments(pen: Pen, used: set[str], requires_grad: bool, may_fail: bool) -> Lines:
    """The lines of the argument tuples, one an input; `used` names the optional parameters.

    `may_fail` allows what operators raise on: indices out of range, tensors without elements.
    """
    dtype = pen.pick(*_DTYPES)
    rows = pen.weighted((8, 3), (1, 1), (1, 2), (1, 0 if may_fail else 1))
    resized = pen.chance(10)
    flags = pen.weighted((3, ("True",)), (1, ("False",)), (1, ("True", "False")))
    lines = []
    for _ in range(pen.number(_LEAST, _MOST)):
        count = pen.pick(rows, rows + 1) if resized else rows
        parts = [_matrix(pen, count, dtype, requires_grad)]
        if "ids" in used:
            parts.append(f"torch.tensor({_ids(pen, count, may_fail)}, dtype=torch.int64)")
        if "mask" in used:
            parts.append(_mask(pen, count))
        if "flag" in used:
            parts.append(pen.pick(*flags))
        lines.append(f"({', '.join(parts)},),")
    return lines


def _matrix(pen: Pen, rows: int, dtype: str, requires_grad: bool) -> str:
    pool = pen.pick(*_POOLS)
    values = [[pen.pick(*pool) for _ in range(2)] for _ in range(rows)]
    text = "[" + ", ".join(f"[{', '.join(row)}]" for row in values) + "]"
    grad = ", requires_grad=True" if requires_grad else ""
    made = f"torch.tensor({text}, dtype=torch.{dtype}{grad})"
    return made if rows else f"torch.empty(0, 2, dtype=torch.{dtype}{grad})"


def _ids(pen: Pen, rows: int, may_fail: bool) -> list[int]:
    kind = pen.weighted((6, "in"), (1, "out" if may_fail else "in"), (1, "zero"))
    if kind == "zero":
        return [0] * rows
    return [pen.number(0, max(rows - 1, 0)) + (7 if kind == "out" else 0) for _ in range(rows)]


def _mask(pen: Pen, rows: int) -> str:
    if pen.chance(30):
        return "None"
    return f"torch.tensor({[pen.pick(False, True) for _ in range(rows)]}, dtype=torch.bool)"
