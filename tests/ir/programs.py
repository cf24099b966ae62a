"""Random small functions whose every step can be watched.

Each statement, header, except clause and case calls `t(N)` with a number of its own, which records
the event and the local variables and may raise. `r` makes a fresh token marked with N, `q` decides
a branch; further arguments are names that are read there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from types import CodeType, FrameType
from typing import Any

from hypothesis import strategies as st

NAMES = ("a", "b", "c", "d")
_MOST_EVENTS = 60


@dataclass(eq=False)
class Token:
    """A value that knows which statement bound it."""

    number: int

    def __add__(self, other: Token) -> Token:
        return other


@dataclass(frozen=True)
class Event:
    """One call of `t`: its number, the locals then, and whether it raised."""

    number: int
    bound: dict[str, Any]
    raised: bool


@dataclass
class Run:
    """What happened in one execution; `ending` is return, raise or halt."""

    events: list[Event] = field(default_factory=list)
    ending: str = "halt"


class First(Exception):
    pass


class Second(Exception):
    pass


class Halt(BaseException):
    """Ends a run that takes too long; no `except` of a program survives it for long."""


class Subject:
    """Matches `case Subject(p7=a)`, sometimes, with a token of number 7."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def __getattr__(self, name: str) -> Token:
        if not name.startswith("p") or self.random.random() < 0.4:
            raise AttributeError(name)
        return Token(int(name[1:]))


class Runner:
    """Executes a program under one seed."""

    def __init__(self, text: str, seed: int) -> None:
        self.random = Random(seed)
        self.run = Run()
        self.halted = False
        scope: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("t", "r", "q", "it", "cm", "ex", "er", "su", "dec")
        }
        scope["Subject"] = Subject
        exec(compile(text, "<program>", "exec"), scope)
        self.function = scope["f"]

    def execute(self) -> Run:
        try:
            self.function(Token(0), Token(0))
        except Halt:
            pass
        except BaseException:
            self.run.ending = "halt" if self.halted else "raise"
        else:
            self.run.ending = "halt" if self.halted else "return"
        return self.run

    def t(self, number: int) -> None:
        if self.halted or len(self.run.events) >= _MOST_EVENTS:
            self.halted = True
            raise Halt
        raised = self.random.random() < 0.12
        bound = dict(_frame(self.function.__code__).f_locals)
        self.run.events.append(Event(number, bound, raised))
        if raised:
            raise self.random.choice([First, Second])

    def r(self, number: int, *_: Any) -> Token:
        return Token(number)

    def q(self, *_: Any) -> bool:
        return self.random.random() < 0.5

    def it(self, number: int, *_: Any) -> Iterator[Token]:
        while True:
            self.t(number)
            if self.q():
                return
            yield Token(number)

    def cm(self, number: int, *_: Any) -> Manager:
        return Manager(self, number)

    def ex(self, *_: Any) -> Any:
        return self.random.choice([First, Second, (First, Second), Exception])

    def er(self, *_: Any) -> Exception:
        return self.random.choice([First, Second])()

    def su(self, *_: Any) -> Subject:
        return Subject(self.random)

    def dec(self, number: int, *_: Any) -> Any:
        return lambda function: Token(number)


@dataclass
class Manager:
    """Swallows exceptions now and then."""

    runner: Runner
    number: int

    def __enter__(self) -> Token:
        return Token(self.number)

    def __exit__(self, kind: Any, *_: Any) -> bool:
        return kind is not None and kind is not Halt and self.runner.q()


def _frame(code: CodeType) -> FrameType:
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    assert frame is not None
    return frame


# --- generation ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Place:
    depth: int
    loop: bool = False
    handler: bool = False
    jumps: bool = True

    def inner(self, **changes: bool) -> _Place:
        known = {"loop": self.loop, "handler": self.handler, "jumps": self.jumps}
        return _Place(self.depth - 1, **(known | changes))


class _Writer:
    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.count = 0

    def choice(self, options: list[str]) -> str:
        return self.draw(st.sampled_from(options))

    def name(self) -> str:
        return self.choice(list(NAMES))

    def call(self, maker: str = "r") -> str:
        """A numbered call that reads up to two names after the event."""
        self.count += 1
        reads = self.draw(st.lists(st.sampled_from(NAMES), max_size=2))
        return f"{maker}({', '.join([str(self.count), f't({self.count})', *reads])})"

    def body(self, place: _Place) -> list[str]:
        lines = [
            line for _ in range(self.draw(st.integers(1, 3))) for line in self.statement(place)
        ]
        return ["    " + line for line in lines]

    def statement(self, place: _Place) -> list[str]:
        simple = ["assign"] * 4 + ["unpack", "augmented", "walrus", "del", "def", "expr", "assert"]
        simple += ["annotated", "comprehension", "closure"]
        if place.jumps:
            simple += ["return"]
        simple += ["raise"] + (["break", "continue"] if place.loop else [])
        simple += ["reraise"] if place.handler else []
        compound = [
            "if",
            "if",
            "while",
            "forever",
            "for",
            "try",
            "finally",
            "with",
            "match",
            "star",
        ]
        kind = self.choice(simple + (compound if place.depth else []))
        return list(getattr(self, "do_" + kind)(place))

    def do_assign(self, _: _Place) -> list[str]:
        return [f"{self.name()} = {self.call()}"]

    def do_annotated(self, _: _Place) -> list[str]:
        return [f"{self.name()}: int = {self.call()}"]

    def do_unpack(self, _: _Place) -> list[str]:
        call = self.call()
        return [f"{self.name()}, *[{self.name()}] = {call}, r({self.count})"]

    def do_augmented(self, _: _Place) -> list[str]:
        return [f"{self.name()} += {self.call()}"]

    def do_walrus(self, _: _Place) -> list[str]:
        call, name = self.call(), self.name()
        again = f"r({self.count})"
        tests = [f"({name} := {call})", f"q({call}) and ({name} := {again})"]
        tests += [f"q(({name} := {call}), {name})", f"({name} := {again}) if q({call}) else 0"]
        return [f"if {self.choice(tests)}:", "    pass"]

    def do_comprehension(self, _: _Place) -> list[str]:
        times, name = self.call("q"), self.name()
        made = f"({name} := r({self.count}))"
        return [f"[{made} for {name}x in range({times})]", f"[{name} for {name} in ()]"]

    def do_closure(self, _: _Place) -> list[str]:
        return [f"(lambda: {self.name()})", f"({self.name()} for x in ())"]

    def do_del(self, _: _Place) -> list[str]:
        return [f"del {self.name()}"]

    def do_def(self, _: _Place) -> list[str]:
        return [f"@{self.call('dec')}", f"def {self.name()}(): return {self.name()}"]

    def do_expr(self, _: _Place) -> list[str]:
        return [self.call(), "pass"]

    def do_assert(self, _: _Place) -> list[str]:
        return [f"assert {self.call('q')}, {self.name()}"]

    def do_return(self, _: _Place) -> list[str]:
        return [f"return {self.call()}"]

    def do_raise(self, _: _Place) -> list[str]:
        return [f"raise {self.call('er')}"]

    def do_reraise(self, _: _Place) -> list[str]:
        return ["raise"]

    def do_break(self, _: _Place) -> list[str]:
        return ["break"]

    def do_continue(self, _: _Place) -> list[str]:
        return ["continue"]

    def do_if(self, place: _Place) -> list[str]:
        lines = [f"if {self.call('q')}:", *self.body(place.inner())]
        for _ in range(self.draw(st.integers(0, 1))):
            lines += [f"elif {self.call('q')}:", *self.body(place.inner())]
        return lines + self.otherwise(place)

    def otherwise(self, place: _Place) -> list[str]:
        return ["else:", *self.body(place.inner())] if self.draw(st.booleans()) else []

    def do_while(self, place: _Place) -> list[str]:
        head = f"while {self.call('q')}:"
        return [head, *self.body(place.inner(loop=True)), *self.otherwise(place)]

    def do_forever(self, place: _Place) -> list[str]:
        return ["while True:", f"    {self.call()}", *self.body(place.inner(loop=True))]

    def do_for(self, place: _Place) -> list[str]:
        self.count += 1
        head = f"for {self.name()} in it({self.count}):"
        return [head, *self.body(place.inner(loop=True)), *self.otherwise(place)]

    def do_with(self, place: _Place) -> list[str]:
        return [f"with {self.call('cm')} as {self.name()}:", *self.body(place.inner())]

    def do_match(self, place: _Place) -> list[str]:
        lines = [f"match {self.call('su')}:"]
        for _ in range(self.draw(st.integers(1, 2))):
            call = self.call("q")
            head = f"    case Subject(p{self.count}={self.name()}) if {call}:"
            lines += [head, *("    " + line for line in self.body(place.inner()))]
        if self.draw(st.booleans()):
            lines += ["    case _:", *("    " + line for line in self.body(place.inner()))]
        return lines

    def handlers(self, place: _Place, star: str = "") -> list[str]:
        lines = []
        for _ in range(self.draw(st.integers(1, 2))):
            name = f" as {self.name()}" if self.draw(st.booleans()) else ""
            lines += [f"except{star} {self.call('ex')}{name}:", *self.body(place)]
        if not star and self.draw(st.integers(0, 4)) == 0:
            # The event comes first, so that a run that is over ends here.
            lines += ["except:", f"    {self.call()}", *self.body(place)]
        return lines

    def do_try(self, place: _Place) -> list[str]:
        lines = ["try:", *self.body(place.inner()), *self.handlers(place.inner(handler=True))]
        lines += self.otherwise(place)
        return lines + (["finally:", *self.body(place.inner())] if self.draw(st.booleans()) else [])

    def do_finally(self, place: _Place) -> list[str]:
        return ["try:", *self.body(place.inner()), "finally:", *self.body(place.inner())]

    def do_star(self, place: _Place) -> list[str]:
        inside = place.inner(handler=True, jumps=False, loop=False)
        return ["try:", *self.body(place.inner()), *self.handlers(inside, "*")]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a function `f(a, b)`."""
    writer = _Writer(draw)
    place = _Place(depth=3)
    lines = [line for _ in range(3) for line in writer.statement(place)]
    return "\n".join(["def f(a, b):", *("    " + line for line in lines), ""])
