"""Builds control-flow graphs: one walk over a function's blocks with a stack of frames."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from graphmend.ir.cfg import Edge, Label, Loop, Node, Sentinel, Try, With
from graphmend.ir.symbols import Function

_SILENT = (ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal, ast.Try, ast.TryStar)
_NO_SUPPRESSION = ("torch.", "contextlib.nullcontext", "contextlib.closing", "builtins.open")


class _Exit(NamedTuple):
    """An edge whose target is not known yet."""

    source: Node
    label: Label
    unbinds: frozenset[str] = frozenset()


class _Jump(Enum):
    RAISE = auto()
    RETURN = auto()
    BREAK = auto()
    CONTINUE = auto()


@dataclass
class _LoopFrame:
    jumps: dict[_Jump, list[_Exit]] = field(default_factory=lambda: defaultdict(list))


@dataclass
class _CatchFrame:
    """Collects what is raised; `through` lets it also go on outwards (except*, with)."""

    raised: list[_Exit] = field(default_factory=list)
    through: bool = False


@dataclass
class _FinallyFrame:
    jumps: dict[_Jump, list[_Exit]] = field(default_factory=lambda: defaultdict(list))


@dataclass
class _NameFrame:
    """The body of `except .. as name`: leaving it deletes the name."""

    name: str


_Frame = _LoopFrame | _CatchFrame | _FinallyFrame | _NameFrame


def build(function: Function) -> tuple[list[Node], list[Edge]]:
    """The nodes (ENTRY first, then in source order, EXIT and RAISE last) and the edges."""
    builder = _Builder(function)
    body = [] if isinstance(function.node, ast.Lambda) else function.node.body
    outs = builder.block(body, [_Exit(Sentinel.ENTRY, Label.NEXT)])
    builder.connect(outs, Sentinel.EXIT)
    return [Sentinel.ENTRY, *builder.nodes, Sentinel.EXIT, Sentinel.RAISE], list(builder.edges)


class _Builder:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.nodes: list[Node] = []
        self.edges: dict[Edge, None] = {}
        self.frames: list[_Frame] = []

    def connect(self, exits: Sequence[_Exit], target: Node, back: bool = False) -> None:
        for source, label, unbinds in exits:
            self.edges[Edge(source, target, label, back, unbinds)] = None

    def enter(self, node: Node, incoming: Sequence[_Exit]) -> None:
        self.nodes.append(node)
        self.connect(incoming, node)
        if not isinstance(node, _SILENT):
            self.jump(_Jump.RAISE, [_Exit(node, Label.EXCEPT)], certain=False)

    def jump(self, kind: _Jump, exits: list[_Exit], certain: bool = True) -> None:
        """Send exits outwards to whatever takes them; `certain` is False for "may raise"."""
        for frame in reversed(self.frames):
            match frame:
                case _FinallyFrame():
                    frame.jumps[kind] += exits
                    return
                case _LoopFrame() if kind in (_Jump.BREAK, _Jump.CONTINUE):
                    frame.jumps[kind] += exits
                    return
                case _CatchFrame() if kind is _Jump.RAISE:
                    frame.raised += exits
                    if not frame.through:
                        return
                case _NameFrame(name):
                    exits = _unbinding(exits, name)
        if kind is _Jump.RETURN:
            self.connect(exits, Sentinel.EXIT)
        elif certain:
            self.connect(exits, Sentinel.RAISE)

    def block(self, body: Sequence[ast.stmt], incoming: list[_Exit]) -> list[_Exit]:
        for statement in body:
            incoming = self.statement(statement, incoming)
        return incoming

    def inside(self, frame: _Frame, body: Sequence[ast.stmt], incoming: list[_Exit]) -> list[_Exit]:
        self.frames.append(frame)
        outs = self.block(body, incoming)
        self.frames.pop()
        return outs

    def statement(self, node: ast.stmt, incoming: list[_Exit]) -> list[_Exit]:
        match node:
            case ast.If():
                return self.if_(node, incoming)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self.loop(node, incoming)
            case ast.Try() | ast.TryStar():
                return self.try_(node, incoming)
            case ast.With() | ast.AsyncWith():
                return self.with_(node, incoming)
            case ast.Match():
                return self.match_(node, incoming)
        self.enter(node, incoming)
        match node:
            case ast.Return():
                self.jump(_Jump.RETURN, [_Exit(node, Label.NEXT)])
            case ast.Break():
                self.jump(_Jump.BREAK, [_Exit(node, Label.NEXT)])
            case ast.Continue():
                self.jump(_Jump.CONTINUE, [_Exit(node, Label.NEXT)])
            case ast.Raise():
                self.jump(_Jump.RAISE, [_Exit(node, Label.EXCEPT)])
            case ast.Assert():
                self.jump(_Jump.RAISE, [_Exit(node, Label.EXCEPT)])
                return [_Exit(node, Label.NEXT)]
            case _:
                return [_Exit(node, Label.NEXT)]
        return []

    def if_(self, node: ast.If, incoming: list[_Exit]) -> list[_Exit]:
        outs: list[_Exit] = []
        while True:
            self.enter(node, incoming)
            outs += self.block(node.body, [_Exit(node, Label.TRUE)])
            incoming = [_Exit(node, Label.FALSE)]
            # An elif chain may be longer than the interpreter's stack is deep.
            if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
                node = node.orelse[0]
            else:
                return outs + self.block(node.orelse, incoming)

    def loop(self, node: Loop, incoming: list[_Exit]) -> list[_Exit]:
        frame = _LoopFrame()
        self.enter(node, incoming)
        outs = self.inside(frame, node.body, [_Exit(node, Label.TRUE)])
        self.connect([*outs, *frame.jumps[_Jump.CONTINUE]], node, back=True)
        endless = (
            isinstance(node, ast.While)
            and isinstance(node.test, ast.Constant)
            and bool(node.test.value)
        )
        done = [] if endless else [_Exit(node, Label.FALSE)]
        return self.block(node.orelse, done) + frame.jumps[_Jump.BREAK]

    def with_(self, node: With, incoming: list[_Exit]) -> list[_Exit]:
        self.enter(node, incoming)
        start = [_Exit(node, Label.NEXT)]
        if not any(map(self.may_suppress, node.items)):
            return self.block(node.body, start)
        frame = _CatchFrame(through=True)
        return self.inside(frame, node.body, start) + frame.raised

    def may_suppress(self, item: ast.withitem) -> bool:
        """Whether a context manager may swallow exceptions: all but a few known ones."""
        maker = item.context_expr
        while isinstance(maker, ast.Call):
            maker = maker.func
        name = self.function.module.qualified(maker, self.function)
        return name is None or not name.startswith(_NO_SUPPRESSION)

    def match_(self, node: ast.Match, incoming: list[_Exit]) -> list[_Exit]:
        self.enter(node, incoming)
        outs: list[_Exit] = []
        incoming = [_Exit(node, Label.NEXT)]
        for case in node.cases:
            self.enter(case, incoming)
            outs += self.block(case.body, [_Exit(case, Label.TRUE)])
            always = case.guard is None and _irrefutable(case.pattern)
            incoming = [] if always else [_Exit(case, Label.FALSE)]
        return outs + incoming

    def try_(self, node: Try, incoming: list[_Exit]) -> list[_Exit]:
        final = _FinallyFrame()
        if node.finalbody:
            self.frames.append(final)
        self.enter(node, incoming)
        start = [_Exit(node, Label.NEXT)]
        if node.handlers:
            caught = _CatchFrame()
            body = self.inside(caught, node.body, start)
            outs = self.block(node.orelse, body)
            handle = self.star_handlers if isinstance(node, ast.TryStar) else self.handlers
            outs = outs + handle(node.handlers, caught.raised)
        else:
            outs = self.block(node.body, start)
        if not node.finalbody:
            return outs
        self.frames.pop()
        return self.finally_(node.finalbody, outs, final)

    def handlers(self, handlers: list[ast.ExceptHandler], incoming: list[_Exit]) -> list[_Exit]:
        outs: list[_Exit] = []
        for handler in handlers:
            outs += self.handler(handler, incoming)
            incoming = [] if self.catches_all(handler) else [_Exit(handler, Label.FALSE)]
        self.jump(_Jump.RAISE, [_Exit(source, Label.EXCEPT) for source, _, _ in incoming])
        return outs

    def star_handlers(
        self, handlers: list[ast.ExceptHandler], incoming: list[_Exit]
    ) -> list[_Exit]:
        """except*: each clause may take a part of the group and leave the rest to the next."""
        outs: list[_Exit] = []
        for handler in handlers:
            raised = _CatchFrame(through=True)
            self.frames.append(raised)
            handled = self.handler(handler, incoming)
            self.frames.pop()
            left = _Exit(handler, Label.FALSE)
            outs += [*handled, left]
            incoming = [*handled, left, *raised.raised]
            self.jump(_Jump.RAISE, [e._replace(label=Label.EXCEPT) for e in incoming])
        return outs

    def handler(self, handler: ast.ExceptHandler, incoming: list[_Exit]) -> list[_Exit]:
        self.enter(handler, incoming)
        start = [_Exit(handler, Label.TRUE)]
        if handler.name is None:
            return self.block(handler.body, start)
        outs = self.inside(_NameFrame(handler.name), handler.body, start)
        return _unbinding(outs, handler.name)

    def catches_all(self, handler: ast.ExceptHandler) -> bool:
        if handler.type is None:
            return True
        name = self.function.module.qualified(handler.type, self.function)
        return name == "builtins.BaseException"

    def finally_(
        self, body: list[ast.stmt], normal: list[_Exit], frame: _FinallyFrame
    ) -> list[_Exit]:
        """Run the final block for every way into it, then resume each of them."""
        entries = normal + [e for exits in frame.jumps.values() for e in exits]
        outs = self.block(body, entries)
        for kind, exits in frame.jumps.items():
            if exits and kind is _Jump.RAISE:
                self.jump(kind, [e._replace(label=Label.EXCEPT) for e in outs])
            elif exits:
                self.jump(kind, outs)
        return outs if normal else []


def _unbinding(exits: list[_Exit], name: str) -> list[_Exit]:
    return [e._replace(unbinds=e.unbinds | {name}) for e in exits]


def _irrefutable(pattern: ast.pattern) -> bool:
    if isinstance(pattern, ast.MatchOr):
        return any(map(_irrefutable, pattern.patterns))
    return isinstance(pattern, ast.MatchAs) and (
        pattern.pattern is None or _irrefutable(pattern.pattern)
    )
