"""Legality of running both sides of a branch: what a side may do although it is not taken.

The runtime decides each of these again, for the operators that were really traced. What is known
to fail there is refused here, with the reason.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from graphmend.analyses.effects import EffectSet
from graphmend.detect.calls import effect_call
from graphmend.detect.guards import guard
from graphmend.detect.output import output_statement
from graphmend.detect.site import Site
from graphmend.facts import Facts
from graphmend.ir.scopes import walk
from graphmend.rewrite.region import Continuation, Region

Side = list[ast.stmt] | ast.expr


@dataclass(frozen=True)
class Branch:
    """A branch under examination. `region` is None for a conditional expression.

    `after` is what follows and runs on each side, too. `caches` maps attributes that a side fills
    for later calls to the statements that do.
    """

    site: Site
    facts: Facts
    region: Region | None
    sides: tuple[Side, Side]
    after: Continuation | None
    caches: dict[str, ast.If]

    def effects(self) -> Iterator[tuple[ast.AST, EffectSet]]:
        """What each part of the sides may do: statements without their blocks, or expressions.

        Guards and output calls are left out: they are deferred and run where they are reached.
        """
        function, facts = self.site.function, self.facts
        for side in self.sides:
            if isinstance(side, ast.expr):
                yield side, facts.effects.of_expr(side, function, self.site.statement)
        for statement in self._own(self.statements):
            yield statement, facts.effects.of_statement(statement, function)

    @property
    def statements(self) -> list[ast.stmt]:
        """The statements of both sides, and those that follow and run on each."""
        own = [s for side in self.sides if isinstance(side, list) for s in side]
        return own + list(self.after.statements if self.after is not None else ())

    def moved(self) -> set[ast.AST]:
        """What guards and output calls consist of: they move out, or the branch stays."""
        own = {id(statement) for statement in self._own(self.statements)}
        every = (n for s in self.statements for n in walk(s) if isinstance(n, ast.stmt))
        return {node for statement in every if id(statement) not in own for node in walk(statement)}

    def _own(self, block: list[ast.stmt]) -> Iterator[ast.stmt]:
        function, facts = self.site.function, self.facts
        for statement in block:
            if guard(statement, function, facts) or output_statement(statement, function, facts):
                continue
            yield statement
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, ast.stmt):
                    yield from self._own([child])

    def in_cache_fill(self, part: ast.AST) -> bool:
        """Whether a part belongs to what fills a cache."""
        return any(part in walk(fill) for fill in self.caches.values())


def draws_no_random_numbers(branch: Branch) -> str | None:
    """A side that draws random numbers moves the generator although it is not taken."""
    for part, effects in branch.effects():
        if effects.random:
            return f"{_place(part)} draws random numbers on one side"
    return None


def cannot_fail_on_data(branch: Branch) -> str | None:
    """Data that one side is kept from may be out of the range of its operators."""
    function, facts = branch.site.function, branch.facts
    for part, effects in branch.effects():
        if isinstance(part, ast.stmt):
            failing = facts.effects.data_failure(part, function)
        else:
            failing = ast.unparse(part) if effects.may_raise_data else None
        if failing is not None:
            return f"`{failing}` may fail on data that its side would not see"
    return None


def raises_nothing(branch: Branch) -> str | None:
    """A side that raises cannot run when it is not taken."""
    for part, _ in branch.effects():
        if isinstance(part, ast.Raise | ast.Assert):
            return f"{_place(part)} raises on one side"
    return None


def shows_nothing_else(branch: Branch) -> str | None:
    """Output, and values that depend on when they are asked for, belong to the side taken."""
    for part, effects in branch.effects():
        if effects.logs:
            return f"{_place(part)} writes output on one side"
        if effects.impure:
            return f"{_place(part)} depends on when it runs, on one side"
    return None


def assumption(branch: Branch) -> str | None:
    """What is assumed of the code that a side calls and that was not read.

    What fills a cache may run at any time anyway.
    """
    unknown = {
        f"`{name}(..)`": None
        for part, effects in branch.effects()
        if not branch.in_cache_fill(part)
        for name in sorted(effects.unknown)
    }
    if not unknown:
        return None
    does = "only computes its result" if len(unknown) == 1 else "only compute their results"
    return f"{' and '.join(unknown)} {does}"


def warns_at_its_own_line(branch: Branch) -> str | None:
    """A warning that counts frames up to a caller would find the frames of the selection."""
    function, facts = branch.site.function, branch.facts
    for top in branch.statements:
        for statement in (node for node in walk(top) if isinstance(node, ast.stmt)):
            for call in walk(statement):
                if not isinstance(call, ast.Call):
                    continue
                effect = effect_call(call, function, statement, facts)
                if effect is not None and effect.stacklevel and _counts_frames(call, effect.verb):
                    return f"{_place(call)} shows the line of a caller, on one side"
    return None


def _counts_frames(call: ast.Call, verb: str) -> bool:
    levels = [k.value for k in call.keywords if k.arg in (None, "stacklevel")]
    if verb == "warn":
        levels += call.args[2:3]
    return any(not (isinstance(level, ast.Constant) and level.value == 1) for level in levels)


def keeps_sizes_static(branch: Branch) -> str | None:
    """A size that depends on data cannot be joined with another."""
    for part, effects in branch.effects():
        if effects.dynamic_shape:
            return f"{_place(part)} makes a size that depends on data, on one side"
    return None


def writes_only_attributes(branch: Branch) -> str | None:
    """Attributes that are stored are selected; other objects cannot be written half."""
    for part, effects in branch.effects():
        others = [write for write in effects.writes if not write.tensor]
        if others and not _stores_attributes_only(part):
            return f"{_place(part)} changes an object on one side"
    return None


def writes_no_tensor_with_gradient(branch: Branch) -> str | None:
    """A tensor that is written and put back counts as written for the backward pass."""
    for part, effects in branch.effects():
        if any(write.tensor for write in effects.writes) and not _without_gradients(branch):
            return f"{_place(part)} writes a tensor in place on one side"
    return None


def _without_gradients(branch: Branch) -> bool:
    """Whether the branch stands under `torch.no_grad()` or `torch.inference_mode()`."""
    function = branch.site.function
    contexts = [
        item.context_expr
        for block in function.cfg.enclosing_withs(branch.site.statement)
        for item in block.items
    ]
    for context in [*contexts, *function.decorators]:
        called = context.func if isinstance(context, ast.Call) else context
        if function.module.qualified(called, None) in ("torch.no_grad", "torch.inference_mode"):
            return True
    return False


def _stores_attributes_only(part: ast.AST) -> bool:
    match part:
        case ast.Assign(targets=targets):
            return all(map(_is_attribute_or_name, targets))
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return _is_attribute_or_name(target)
    return registers_buffer(part)


def registers_buffer(part: ast.AST) -> bool:
    """Whether a statement only stores a buffer: `module.register_buffer("name", ..)`."""
    match part:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="register_buffer"), args=[name, *_])):
            return isinstance(name, ast.Constant)
    return False


def _is_attribute_or_name(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return all(map(_is_attribute_or_name, target.elts))
    return isinstance(target, ast.Attribute | ast.Name)


def _place(part: ast.AST) -> str:
    text = ast.unparse(part).split("\n")[0].rstrip(":")
    return f"`{text}`"


Check = Callable[[Branch], str | None]

CHECKS: tuple[Check, ...] = (
    draws_no_random_numbers,
    cannot_fail_on_data,
    raises_nothing,
    shows_nothing_else,
    warns_at_its_own_line,
    keeps_sizes_static,
    writes_only_attributes,
    writes_no_tensor_with_gradient,
)
