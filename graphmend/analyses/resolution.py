"""What the analyses ask of a project."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from graphmend.ir.module import ClassInfo, Function, Module

if TYPE_CHECKING:
    from graphmend.ir.callers import CallersUnknown
    from graphmend.ir.callgraph import Callees
    from graphmend.ir.hierarchy import Hierarchy


class CallSite(Protocol):
    """A call found by the project."""

    @property
    def function(self) -> Function | None:
        """The function that holds the call; None at module level."""

    @property
    def call(self) -> ast.expr:
        """The call, or another mention of the function."""


class Resolution(Protocol):
    """What the kinds ask of a project."""

    def callee(self, call: ast.Call, function: Function) -> Function | ClassInfo | None:
        """The one function or class that a call surely runs."""

    def callees(self, call: ast.Call, function: Function) -> Callees:
        """Everything that a call may run."""

    def definition(self, qualified: str, beside: Module | None = None) -> object:
        """What a dotted name stands for."""

    def class_is_module(self, info: ClassInfo) -> bool:
        """Whether the class derives from torch.nn.Module."""

    @property
    def files(self) -> Sequence[Path] | None:
        """The files of the project; None where there are too many to search."""

    @property
    def hierarchy(self) -> Hierarchy:
        """Base classes and method resolution order."""

    def local_calls(self, function: Function) -> Sequence[CallSite]:
        """The calls of a function in its own module."""

    def callers(self, function: Function) -> Sequence[CallSite] | CallersUnknown:
        """The uses of a function in the project, as far as they are known."""
