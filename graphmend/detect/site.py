"""A break site: a place where Dynamo ends the graph, before anyone has tried to mend it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from graphmend.findings import Category
from graphmend.ir.module import Function


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern of the catalogue, as the detector needs it."""

    code: str
    category: Category
    break_type: str


# Break types are the `Gb_type` texts of torch/_dynamo/graph_break_registry.json (torch 2.13).
BRANCH = Rule("GM101", Category.CONTROL_FLOW, "Data-dependent branching")
LOOP = Rule("GM102", Category.CONTROL_FLOW, "Data-dependent branching")
PRINT = Rule("GM201", Category.LOGGING, "Failed to trace builtin operator")
LOGGER = Rule("GM202", Category.LOGGING, "logging.Logger method not supported for non-export cases")
WARNING = Rule("GM203", Category.LOGGING, "Attempted to call function marked as skipped")
ONCE = Rule("GM204", Category.LOGGING, "logging.Logger method not supported for non-export cases")
GUARD = Rule("GM301", Category.GUARD, "Data-dependent branching")
ASSERT = Rule(
    "GM302", Category.GUARD, "Data-dependent assertion failed (cannot compile partial graph)"
)
CHECK_CALL = Rule("GM303", Category.GUARD, "Data-dependent branching")
DYNAMIC_SHAPE = Rule("GM401", Category.DYNAMIC_SHAPE, "Dynamic shape operator")
SCALAR = Rule(
    "GM501", Category.SCALAR, "Unsupported Tensor.item() call with capture_scalar_outputs=False"
)
BOUND = Rule(
    "GM502", Category.SCALAR, "Unsupported Tensor.item() call with capture_scalar_outputs=False"
)

RULES = (
    BRANCH,
    LOOP,
    PRINT,
    LOGGER,
    WARNING,
    ONCE,
    GUARD,
    ASSERT,
    CHECK_CALL,
    DYNAMIC_SHAPE,
    SCALAR,
    BOUND,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Site:
    """One break site.

    `node` is where a finding points; `statement` is the statement a rewrite would move.
    `refusal` is set where the detector already knows why no rewrite can apply.
    """

    rule: Rule
    function: Function
    node: ast.stmt | ast.expr
    statement: ast.stmt
    message: str
    refusal: str | None = None
    assumption: str | None = None
