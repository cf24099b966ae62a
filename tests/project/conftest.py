"""Small projects on disk."""

import ast
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from graphmend.ir.module import Function, Module
from graphmend.ir.project import Project

Maker = Callable[..., "Code"]


class Code:
    """A project in a temporary folder and short ways to its parts."""

    def __init__(self, root: Path, first: str) -> None:
        self.root = root
        self.project = Project.of(root / first)

    def module(self, name: str) -> Module:
        path = self.root / name
        found = self.project.module_at(path)
        assert found is not None
        return found

    def function(self, name: str, qualname: str) -> Function:
        return self.module(name).functions[qualname]

    def call(self, name: str, text: str) -> tuple[ast.Call, Function | None, Module]:
        """The call written `text` in a file, with the function around it."""
        module = self.module(name)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and ast.unparse(node) == text:
                return node, module.function_of(node), module
        raise AssertionError(f"no call {text} in {name}")

    def callees(self, name: str, text: str) -> set[str]:
        """Qualnames of all that the call may run."""
        return {c.qualname for c in self.project.callees(*self.call(name, text)).functions}

    def callee(self, name: str, text: str) -> str | None:
        """The qualname of what the call surely runs."""
        found = self.project.callee(*self.call(name, text))
        return found.qualname if found is not None else None

    def operator(self, name: str, text: str) -> str | None:
        """The outside name of what the call runs."""
        return self.project.operator(*self.call(name, text))


@pytest.fixture
def write(tmp_path: Path) -> Maker:
    """Write files (name=text pairs as a dict) below a project root and open the project."""

    def make(files: dict[str, str], marker: bool = True) -> Code:
        if marker:
            (tmp_path / "pyproject.toml").write_text("")
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text))
        return Code(tmp_path, next(iter(files)))

    return make
