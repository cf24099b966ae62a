"""Attributes that a branch fills once for later calls: `if not hasattr(self, "x"): self.x = ..`.

Such an attribute may be filled earlier than the program does, as long as nothing else asks for it.
"""

from __future__ import annotations

import ast

from graphmend.facts import Facts
from graphmend.ir.module import Function
from graphmend.ir.scopes import walk
from graphmend.ir.symbols import attribute_stores
from graphmend.rewrite.region import Region


def cached_attributes(region: Region, function: Function, facts: Facts) -> dict[str, ast.If]:
    """The attributes that a side fills as a cache, with the statements that fill them."""
    found: dict[str, ast.If] = {}
    for side in region.sides:
        for statement in side:
            for node in walk(statement):
                if isinstance(node, ast.If) and (name := _filled(node, function)) is not None:
                    if _is_read_only_by(name, region, facts):
                        found[name] = node
    return found


def _filled(node: ast.If, function: Function) -> str | None:
    """The attribute that `if not hasattr(o, "x"): o.x = ..` fills, and nothing else."""
    match node:
        case ast.If(
            test=ast.UnaryOp(
                op=ast.Not(),
                operand=ast.Call(
                    func=ast.Name(id="hasattr") as asked,
                    args=[ast.Name(id=owner), ast.Constant(value=str(name))],
                    keywords=[],
                ),
            ),
            body=[ast.Assign() as fill],
            orelse=[],
        ) if function.module.qualified(asked, function) == "builtins.hasattr":
            stores = [target for target, _ in attribute_stores(fill)]
            match stores:
                case [ast.Attribute(value=ast.Name(id=stored), attr=attr)]:
                    return name if (stored, attr) == (owner, name) else None
    return None


def _is_read_only_by(name: str, region: Region, facts: Facts) -> bool:
    """Whether no code of the project but the region speaks of an attribute of that name."""
    inside = {id(node) for side in region.sides for statement in side for node in walk(statement)}
    for node in facts.module.nodes:
        mentions = isinstance(node, ast.Attribute) and node.attr == name
        mentions |= isinstance(node, ast.Constant) and node.value == name
        if mentions and id(node) not in inside:
            return False
    paths = facts.project.mentioning(name)
    return paths is not None and not (set(paths) - {facts.module.path})
