"""The runtime looks for the private names of torch that it uses before it patches anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphmend.runtime
from graphmend.runtime.private_names import PRIVATE, first_missing

FOLDER = Path(graphmend.runtime.__file__).parent


def _used() -> set[str]:
    return {
        name
        for path in FOLDER.glob("*.py")
        for name in _names(ast.parse(path.read_text()))
        if any(part.startswith("_") for part in name.split("."))
    }


def _names(tree: ast.Module) -> Iterator[str]:
    """The dotted names of torch in a module, from imports and from what hangs on them."""
    known = {"torch": "torch"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "torch":
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield f"{node.module}.{alias.name}"
    inner = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            name = _dotted(node, known)
            if name is not None:
                yield name


def _dotted(node: ast.expr, known: dict[str, str]) -> str | None:
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value, known)
        return None if owner is None else f"{owner}.{node.attr}"
    return None


def test_every_private_name_in_use_is_listed_and_no_other() -> None:
    assert sorted(_used() - set(PRIVATE)) == []
    assert sorted(set(PRIVATE) - _used()) == []
    assert list(PRIVATE) == sorted(PRIVATE)


def test_this_torch_has_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch._dynamo  # noqa: F401

    assert first_missing() is None
    monkeypatch.delattr("torch._dynamo.variables.base.VariableTracker.visit")
    assert first_missing() == "torch._dynamo.variables.base.VariableTracker.visit"
