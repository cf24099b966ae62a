"""Statements, each as the lines it takes; one function a construct."""

from __future__ import annotations

from collections.abc import Callable

from eval.fuzz import structures, values
from eval.fuzz.pen import Lines, Names, Pen, indent

Statement = Callable[[Pen], Lines]
_DEEPEST = 3


def body(pen: Pen, most: int) -> Lines:
    """Some statements, at least one."""
    return [line for _ in range(pen.number(1, most)) for line in statement(pen)]


def statement(pen: Pen) -> Lines:
    """One statement."""
    choices = _SIMPLE if pen.depth >= _DEEPEST else _ALL
    if not pen.names.owner:
        choices = tuple(c for c in choices if c[1] not in _OF_OWNERS)
    return pen.weighted(*choices)(pen)


def assign(pen: Pen) -> Lines:
    """A tensor computed, under a new name or an old one."""
    value = values.matrix(pen)
    if pen.chance(40):
        new = pen.fresh()
        pen.names.matrices.append(new)
    else:
        new = values.name(pen)
    return [f"{new} = {value}"]


def measure(pen: Pen) -> Lines:
    """A tensor of no dimensions under a name."""
    value, new = values.scalar(pen), pen.fresh("s")
    pen.names.scalars.append(new)
    return [f"{new} = {value}"]


def update(pen: Pen) -> Lines:
    """`if test: h = ..`, with other statements before it now and then."""
    target = values.name(pen)
    lines = [f"if {values.test(pen)}:", *_side(pen, target)]
    if pen.chance(25):
        lines += [f"elif {values.test(pen)}:", *_side(pen, target)]
    if pen.chance(40):
        lines += ["else:", *_side(pen, target)]
    return lines


def choose(pen: Pen) -> Lines:
    """`if test: t = .. else: t = ..`, binding a new name on both sides."""
    test, new = values.test(pen), pen.fresh()
    lines = [f"if {test}:", *_side(pen, new), "else:", *_side(pen, new)]
    pen.names.matrices.append(new)
    return lines


def _side(pen: Pen, target: str) -> Lines:
    with pen.block():
        lines = [line for _ in range(pen.number(0, 1)) for line in statement(pen)]
        return indent([*lines, f"{target} = {values.matrix(pen)}"])


def pair(pen: Pen) -> Lines:
    """Two names bound on both sides of a branch, or by one that makes tuples."""
    first, second, test = pen.fresh(), pen.fresh(), values.test(pen)
    one, other = (f"{values.matrix(pen)}, {values.matrix(pen)}" for _ in range(2))
    pen.names.matrices += [first, second]
    if pen.chance(50):
        return [f"{first}, {second} = ({one}) if {test} else ({other})"]
    return [
        f"if {test}:",
        *indent([f"{first}, {second} = {one}"]),
        "else:",
        *indent([f"{first}, {second} = {other}"]),
    ]


def ternary(pen: Pen) -> Lines:
    """A conditional expression."""
    value, test, other = values.matrix(pen), values.test(pen), values.matrix(pen)
    target = values.name(pen)
    return [f"{target} = {value} if {test} else {other}"]


def branch(pen: Pen) -> Lines:
    """A branch around any statements."""
    lines = [f"if {values.test(pen)}:", *_block(pen)]
    return [*lines, "else:", *_block(pen)] if pen.chance(30) else lines


def _block(pen: Pen, most: int = 2) -> Lines:
    with pen.block():
        return indent(body(pen, most))


_NUMBERS = (("1.0", "2.0"), ("2", "0.5"), ("1", "3"), ("None", "0.5"), ("True", "False"))


def number(pen: Pen) -> Lines:
    """A Python number chosen by a branch, and a use of it."""
    new, test, (one, other) = pen.fresh("k"), values.test(pen), pen.pick(*_NUMBERS)
    lines = pen.pick(
        (f"{new} = {one} if {test} else {other}",),
        (f"{new} = {one}", f"if {test}:", f"    {new} = {other}"),
        (f"if {test}:", f"    {new} = {one}", "else:", f"    {new} = {other}"),
    )
    x = values.name(pen)
    if one == "None":
        return [*lines, f"{x} = {x} * 2 if {new} is None else {x} / {new}"]
    return [*lines, f"{x} = {x} {pen.pick('*', '+', '/')} {new}"]


def leave(pen: Pen) -> Lines:
    """An early return."""
    return [f"if {values.test(pen)}:", *indent([f"return {values.matrix(pen)}"])]


_ERRORS = ("ValueError", "RuntimeError", "Bad", "KeyError", "IndexError")


def guard(pen: Pen) -> Lines:
    """A check that raises."""
    kind = pen.pick("if", "assert", "helper", "require", "output", "torch", "elif")
    test = values.test(pen)
    if kind == "assert":
        return [f"assert {test}, {values.message(pen)}"]
    if kind == "helper":
        return [f"finite({values.name(pen)}, {pen.pick('flag', '1')})"]
    if kind == "require":
        return [f"require({test}, {values.message(pen)})"]
    if kind == "torch":
        return [f"torch._check(bool({test}))"]
    cause = pen.weighted((4, ""), (1, " from KeyError(2)"), (1, " from None"))
    failure = f"raise {pen.pick(*_ERRORS)}({values.message(pen)}){cause}"
    if kind == "output":
        return [f"if {test}:", *indent([f"print({values.message(pen)})", failure])]
    if kind == "elif":
        return [f"if {values.static(pen)}:", "    pass", f"elif {test}:", *indent([failure])]
    return [f"if {test}:", *indent([failure])]


_OUTPUTS = (
    "print('here')",
    "print({m})",
    "print('value', {x}.mean().item(), {x}.shape)",
    "print(f'{{{x}.sum().item():.4f}} {{flag=}}')",
    "print('all', {x}.detach(), sep=': ')",
    "logger.info('rows %d of %s', {x}.shape[0], flag)",
    "logger.warning('max %.3f', {x}.max().item())",
    "logger.error({m})",
    "warnings.warn(f'norm {{{x}.norm().item():.3f}}', stacklevel=2)",
    "warnings.warn({m}, FutureWarning)",
    "warn_once('once')",
    "if {t}: print('seen')",
    "if {t}: logger.debug({m})",
    "if logger.isEnabledFor(10): logger.debug('%s', {x}.sum().item())",
    "print({x})",
)


def output(pen: Pen) -> Lines:
    """Something printed, logged or warned."""
    form = pen.pick(*_OUTPUTS)
    parts = {"x": values.name(pen)}
    if "{m}" in form:
        parts["m"] = values.message(pen)
    if "{t}" in form:
        parts["t"] = values.test(pen)
    return [form.format(**parts)]


_WRITES = (
    "{x} *= 2",
    "{x} = {x}.clone(); {x}.add_(1)",
    "{x}[0] = 0.5",
    "{x} = {x} + 0; {x}[{x} > 1] = 1",
    "v = {x}.view(-1); {x} = {x} * 2; v = v + 1",
    "v = {x}[:1]; v.mul_(2)",
    "{x}.clamp_(-2, 2)",
    "{x} = {x} * 1; torch.mul({x}.detach(), 2, out={x}.detach())",
    "{x}.copy_({y})",
    "{x} += {y}",
)
_STATE = (
    "self.calls += 1",
    "self.seen.add_({x}.detach().float().mean(0))",
    "self.last = {x}.detach().float().amax(0) if {x}.shape[0] else self.last",
    "self.notes.append({x}.shape[0])",
    "self.level = self.first * 2",
    "self.register_buffer('level', self.first * 2, persistent=False)",
    "self.seen = self.seen + 1",
    "self.last = None",
    "self.seen.copy_(self.level)",
    "self.strict = not self.strict",
)


def write(pen: Pen) -> Lines:
    """Something written in place."""
    x, y = values.name(pen), values.name(pen)
    if x == "x" and pen.leaves:
        return assign(pen)  # autograd refuses: nothing that follows would run
    return pen.pick(*_WRITES).format(x=x, y=y).split("; ")


def state(pen: Pen) -> Lines:
    """An attribute or buffer of the module written."""
    return [pen.pick(*_STATE).format(x=values.name(pen))]


_HEADS = (
    "for i in range(2):",
    "for scale in (1, 2.0):",
    "for i, part in enumerate([{x}, {y}]):",
    "for row in range({x}.shape[0]):",
    "with torch.no_grad():",
    "with torch.autocast('cpu', dtype=torch.bfloat16):",
    "with torch.enable_grad():",
    "with suppress(ValueError):",
    "if flag:",
    "if not flag and {x}.dim() == 2:",
)


def block(pen: Pen) -> Lines:
    """A loop, a `with`, a static branch."""
    head = pen.pick(*_HEADS).format(x=values.name(pen), y=values.name(pen))
    with pen.block():
        if "part" in head:
            pen.names.matrices.append("part")
        lines = body(pen, 2)
        if head.startswith("for") and pen.chance(15):
            lines += [f"if {values.test(pen)}:", f"    {pen.pick('break', 'continue')}"]
    return [head, *indent(lines)]


def attempt(pen: Pen) -> Lines:
    """A `try` with a handler or `finally`."""
    lines = ["try:", *_block(pen)]
    if pen.chance(30):
        return [*lines, "finally:", *indent([f"print({pen.pick('1', 'flag')})"])]
    caught = pen.pick("ValueError", "(RuntimeError, AssertionError)", "KeyError")
    target = values.name(pen)
    return [*lines, f"except {caught}:", *indent([f"{target} = {target} * 0"])]


def call(pen: Pen) -> Lines:
    """A call of a function, method or submodule that is written for it."""
    kind = pen.pick(*(("function", "method", "module") if pen.names.owner else ("function",)))
    return _CALLS[kind](pen)


def _function(pen: Pen) -> Lines:
    new = pen.fresh("helper")
    parameters = ["h", "flag"]
    pen.definitions[new] = definition(pen, f"def {new}({', '.join(parameters)}):", owner=False)
    target = values.name(pen)
    return [f"{target} = {new}({values.name(pen)}, flag)"]


def _method(pen: Pen) -> Lines:
    new = pen.fresh("step")
    decorator = ["@torch.no_grad()"] if pen.chance(20) else []
    head = f"def {new}(self, h, flag):"
    pen.methods[new] = [*decorator, *definition(pen, head, owner=True)]
    target = values.name(pen)
    return [f"{target} = self.{new}({values.name(pen)}, flag)"]


def _module(pen: Pen) -> Lines:
    new = pen.fresh("Part")
    inner = definition(pen, "def forward(self, h, flag):", owner=False)
    pen.definitions[new] = [f"class {new}(nn.Module):", *indent(inner)]
    target = values.name(pen)
    return [f"{target} = self.{new.lower()}({values.name(pen)}, flag)"]


_CALLS = {"function": _function, "method": _method, "module": _module}


def definition(pen: Pen, head: str, owner: bool) -> Lines:
    """A function of `h` and `flag` with a body of its own, which returns a tensor."""
    with pen.function(Names(["h"], owner=owner)):
        lines = body(pen, 2)
        return [head, *indent([*lines, f"return {values.matrix(pen)}"])]


_COMMON: tuple[tuple[int, Statement], ...] = (
    (12, assign),
    (4, measure),
    (8, output),
    (6, guard),
    (4, ternary),
    (3, write),
    (2, state),
    (3, number),
    (2, structures.optional),
    (2, structures.count),
)
_SIMPLE = _COMMON
_ALL = (
    *_COMMON,
    (14, update),
    (6, choose),
    (4, branch),
    (4, leave),
    (3, block),
    (1, attempt),
    (2, pair),
    (4, call),
    (1, structures.collect),
    (1, structures.local),
    (1, structures.record),
    (1, structures.mapping),
)
_OF_OWNERS = (state,)
