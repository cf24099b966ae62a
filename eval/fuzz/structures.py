"""Statements about what is no tensor: None, lists, tuples, dataclasses, local functions."""

from __future__ import annotations

from eval.fuzz import values
from eval.fuzz.pen import Lines, Pen, indent


def optional(pen: Pen) -> Lines:
    """None or a tensor by a branch, and a test for it."""
    new, x = pen.fresh("m"), values.name(pen)
    lines = pen.pick(
        (f"{new} = {values.matrix(pen)} if {values.test(pen)} else None",),
        (f"{new} = None", f"if {values.test(pen)}:", f"    {new} = {values.matrix(pen)}"),
    )
    return [*lines, f"if {new} is not None:", f"    {x} = {x} + {new}"]


def collect(pen: Pen) -> Lines:
    """A list that grows in a loop, and is put together."""
    new, x, target = pen.fresh("items"), values.name(pen), values.name(pen)
    step = pen.pick(
        (f"{new}.append({values.matrix(pen)})",),
        (f"if {values.test(pen)}:", f"    {x} = {values.matrix(pen)}", f"{new}.append({x})"),
        (f"{new}.append({values.matrix(pen)} if {values.test(pen)} else {x})",),
    )
    end = f"{target} = torch.stack([item.to({x}.dtype) for item in {new}]).sum(0)"
    return [f"{new} = []", "for i in range(2):", *indent([*step]), end]


def local(pen: Pen) -> Lines:
    """A function in the function, which may read what is around it."""
    new, target = pen.fresh("local"), values.name(pen)
    with pen.block():
        pen.names.matrices.append("v")
        guard = [f"if {values.test(pen)}:", f"    v = {values.matrix(pen)}"]
        body = [*(guard if pen.chance(60) else []), f"return {values.matrix(pen)}"]
    return [f"def {new}(v):", *indent(body), f"{target} = {new}({target})"]


def record(pen: Pen) -> Lines:
    """A dataclass whose field a branch replaces."""
    new, target = pen.fresh("data"), values.name(pen)
    change = [f"{new}.first = {values.matrix(pen)}"]
    return [
        f"{new} = Output({values.matrix(pen)}, None)",
        f"if {values.test(pen)}:",
        *indent(change),
        f"{target} = {new}.first",
    ]


def mapping(pen: Pen) -> Lines:
    """A dict whose entry a branch replaces or adds."""
    new, target = pen.fresh("found"), values.name(pen)
    change = pen.pick(f"{new}['first'] = {values.matrix(pen)}", f"{new}['more'] = 1")
    return [
        f"{new} = {{'first': {values.matrix(pen)}}}",
        f"if {values.test(pen)}:",
        *indent([change]),
        f"{target} = {new}['first'] * len({new})",
    ]


def count(pen: Pen) -> Lines:
    """Numbers of elements, in tensors of integers and booleans."""
    x, new = values.name(pen), pen.fresh("n")
    pen.names.scalars.append(new)
    return [
        pen.pick(
            f"{new} = ({x} > 0).sum()",
            f"{new} = torch.isnan({x}).any()",
            f"{new} = {x}.argmax()",
            f"{new} = ({x} > 1).int().sum(dtype=torch.int32) // 2",
            f"{new} = torch.tensor(2.0)",
            f"{new} = {x}.sum() if {values.test(pen)} else torch.tensor(1.0)",
        )
    ]
