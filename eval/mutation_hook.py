"""Modules whose legality checks are switched off, or noted when they are reached, as they load.

Files stay as they are: an import hook changes the tree of a module before it is compiled. What to
change is in an environment variable, so it holds in processes that a test starts, too.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from eval.mutation_checks import FunctionNode, nodes

VARIABLE = "GRAPHMEND_MUTATION"
_NOTE, _NOTED = "__note_check__", "__noted_check__"


@dataclass(frozen=True, slots=True)
class Mutation:
    """What becomes of the modules directly in `packages`.

    `off` is the text of the check that is switched off. To the file `record` goes a line for each
    check and test that reaches it.
    """

    packages: tuple[str, ...]
    off: str | None = None
    record: str | None = None

    def to_environment(self) -> str:
        """The value of VARIABLE that stands for it."""
        return json.dumps(asdict(self))


def install() -> None:
    """Do to modules loaded from now on what the environment asks for."""
    options = json.loads(os.environ[VARIABLE])
    mutation = Mutation(**{**options, "packages": tuple(options["packages"])})
    sys.meta_path.insert(0, _Finder(mutation))


class _Finder:
    def __init__(self, mutation: Mutation) -> None:
        self._mutation = mutation
        self._recorder = _Recorder(mutation.record)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.rpartition(".")[0] not in self._mutation.packages:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(name, spec.loader.path, self._mutation.off, self._recorder)
        return spec


class _Loader(SourceFileLoader):
    """Compiles a module from its changed tree, never from stored bytecode."""

    def __init__(self, name: str, path: str, off: str | None, recorder: _Recorder) -> None:
        super().__init__(name, path)
        self._off = off
        self._recorder = recorder

    def get_code(self, fullname: str) -> CodeType:
        tree = ast.parse(self.get_data(self.path))
        found = {node: str(check) for check, node in nodes(tree, fullname)}
        if self._recorder.path is not None:
            tree = _Noted(found).visit(tree)
        elif self._off is not None:
            tree = _Without(found, self._off).visit(tree)
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update({_NOTE: self._recorder.note, _NOTED: self._recorder.noted})
        super().exec_module(module)


class _Without(ast.NodeTransformer):
    """Switches one check off: the statement does nothing, the whole function finds no reason."""

    def __init__(self, found: dict[ast.stmt, str], off: str) -> None:
        self._found = found
        self._off = off

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.stmt) and self._found.get(node) == self._off:
            if not isinstance(node, FunctionNode):
                return ast.copy_location(ast.Pass(), node)
            node.body = [ast.copy_location(ast.Return(ast.Constant(None)), node)]
        return super().generic_visit(node)


class _Noted(ast.NodeTransformer):
    """Notes each check where it is about to refuse, and a whole one where it gives a reason."""

    def __init__(self, found: dict[ast.stmt, str]) -> None:
        self._found = found
        self._whole: str | None = None

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, FunctionNode):
            around, self._whole = self._whole, self._found.get(node)
            result = self.generic_visit(node)
            self._whole = around
            return result
        check = self._found.get(node) if isinstance(node, ast.stmt) else None
        if isinstance(node, ast.Return) and self._whole is not None and node.value is not None:
            node.value = _call(_NOTED, self._whole, node.value)
        if check is not None:
            return [ast.copy_location(ast.Expr(_call(_NOTE, check)), node), node]
        return self.generic_visit(node)


def _call(name: str, check: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [ast.Constant(check), *arguments], [])


class _Recorder:
    """Writes which test reaches which check, each pair once a process."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._seen: set[tuple[str, str]] = set()

    def note(self, check: str) -> None:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
        if self.path is None or (check, test) in self._seen:
            return
        self._seen.add((check, test))
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps([test, check]) + "\n")

    def noted(self, check: str, reason: object) -> object:
        if reason is not None:
            self.note(check)
        return reason
