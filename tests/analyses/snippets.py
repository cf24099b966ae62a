"""Small programs for the analyses: a module on disk, its functions, and expressions in them."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

from graphmend.analyses.aliases import Aliases
from graphmend.analyses.effects import Effects
from graphmend.analyses.kind import Kind
from graphmend.analyses.kinds import Kinds
from graphmend.ir.module import Function
from graphmend.ir.project import Project

_HEAD = """
import logging
import math
import random
import time
import warnings
from typing import Optional

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
"""


class Snippet:
    """One module made of common imports and the given text; `others` lie beside it."""

    def __init__(self, folder: Path, text: str, **others: str) -> None:
        (folder / "pyproject.toml").write_text("")
        for name, content in others.items():
            (folder / f"{name}.py").write_text(_HEAD + textwrap.dedent(content))
        path = folder / "snippet.py"
        path.write_text(_HEAD + textwrap.dedent(text))
        project = Project.of(path)
        module = project.module_at(path)
        assert module is not None
        self.module = module
        self.kinds = Kinds(project)
        self.effects = Effects(project, self.kinds)
        self.aliases = Aliases(self.effects)

    def function(self, name: str = "f") -> Function:
        """The function of this qualified name."""
        return self.module.functions[name]

    def find(self, text: str, function: Function) -> tuple[ast.expr, ast.stmt]:
        """The first expression of the function that reads `text`, with its statement."""
        wanted = ast.unparse(ast.parse(text, mode="eval").body)
        for node in ast.walk(function.node):
            if isinstance(node, ast.expr) and ast.unparse(node) == wanted:
                if not isinstance(getattr(node, "ctx", ast.Load()), ast.Store):
                    return node, self.module.statement_of(node)
        raise LookupError(text)

    def statement(self, text: str, function: Function) -> ast.stmt:
        """The first statement of the function that starts with `text`."""
        return next(s for s in function.statements if ast.unparse(s).startswith(text))

    def kind(self, text: str, name: str = "f") -> Kind:
        """The kind of the expression that reads `text`."""
        function = self.function(name)
        return self.kinds.of(self.find(text, function)[0], function)

    def reads_truth(self, text: str, name: str = "f") -> bool:
        """Whether testing the expression reads tensor data."""
        function = self.function(name)
        return self.kinds.truth_reads_data(self.find(text, function)[0], function)

    def is_static(self, text: str, name: str = "f") -> bool:
        """Whether the expression is known to fold."""
        function = self.function(name)
        return self.kinds.static(self.find(text, function)[0], function)

    def early(self, text: str, name: str = "f") -> bool:
        """Whether the expression may be evaluated early, at its own statement."""
        function = self.function(name)
        expr, stmt = self.find(text, function)
        return self.effects.can_evaluate_early(expr, function, stmt)

    def pure(self, text: str, name: str = "f") -> bool:
        """Whether the expression has no effect but its value or an exception."""
        function = self.function(name)
        return self.effects.pure_here(self.find(text, function)[0], function)
