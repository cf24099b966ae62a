"""Programs put together at random: mended and compiled, they show what the originals show."""

import linecache
import random
import re

import pytest
import torch

from graphmend.runtime import deferred_check, deferred_effect
from tests.runtime.observe import see


@deferred_check
def _require(flag, message, *more):
    if flag:
        raise ValueError(f"{message} {more}")


def _require_in_place(flag, message, *more):
    if flag:
        raise ValueError(f"{message} {more}")


@deferred_effect
def _report(*values):
    print(*values)


_STATEMENTS = (
    *("y = y + {n}", "y = y * 2", "y.add_({n})", "x.mul_(0.5)", "v = y[0]", "v.add_(1)"),
    *("box.n += 1", "box.items.append({n})", "box.items.append(y.sum())", "box.t = y"),
    *("box.buf += 1", "box.buf.copy_(y)", "d['k'] = {n}", "y[1] = {n}", "torch.add(y, 1, out=y)"),
    *("report('constant', {n})", "report(y)", "report(v, y.sum())", "report(box.n, box.items)"),
    *("report(f'{{y.sum():.1f}}')", "report(d)", "report(box)", "report([y, (x, 1)], {{'y': y}})"),
    *("require((y > {t}).any(), 'big', {n})", "require((x < {s}).any(), 'small', y.max())"),
    *("require(box.n > {n}, 'count', box.n)", "require((v > {t}).any(), 'v', box)"),
    *("y = helper(y)", "y = nested(y, box)", "torch._dynamo.graph_break()", "y = y * w[0]"),
    *("y = y + w.index_select(0, ids).sum()", "y = y + ((ids + 3) // ids).sum()"),
    *("y = y + torch.nn.functional.embedding(torch.arange(2), w).sum()", "y = y.view({shape})"),
)
_BLOCKS = ("for i in range({n}):", "if {b}:", "with torch.no_grad():", "try:")


def _statement(choose, depth=0):
    numbers = {
        "n": choose.randint(0, 3),
        "t": choose.choice((1, 3, 8, 50)),
        "s": choose.choice((-50, 0, -2)),
        "b": choose.choice((True, False)),
        "shape": choose.choice(("3", "3", "3, 1, 1, 1", "2, 2")),
    }
    if depth == 2 or choose.random() > 0.2:
        return [choose.choice(_STATEMENTS).format(**numbers)]
    block = choose.choice(_BLOCKS)
    body = [f"    {line}" for _ in range(2) for line in _statement(choose, depth + 1)]
    end = []
    if block == "try:":
        end = choose.choice((["finally:", "    y = y + 1"], ["except ValueError:", "    pass"]))
    return [block.format(**numbers), *body, *end]


def _program(seed):
    choose = random.Random(seed)
    simple = ("report('helper', y)", "require((y > 20).any(), 'helper')", "y = y + 1")
    lines = [
        "def make(require, report):",
        "    def helper(y):",
        *(f"        {choose.choice(simple)}" for _ in range(2)),
        "        return y",
        "    def nested(y, box):",
        *(f"        {choose.choice((*simple, 'box.n += 1', 'y.add_(1)'))}" for _ in range(2)),
        "        return y",
        "    def run(x, ids, w, box, d):",
        "        y = x + 1",
        "        v = y[1]",
        *(f"        {line}" for _ in range(choose.randint(3, 9)) for line in _statement(choose)),
        "        return y",
        "    return run",
    ]
    source, name = "\n".join(lines), f"<program {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"torch": torch}
    exec(compile(source, name, "exec"), namespace)
    return namespace["make"]


class _Box:
    def __init__(self):
        self.n = 0
        self.items = [1]
        self.buf = torch.zeros(3)
        self.t = None

    def __repr__(self):
        return f"Box({self.n}, {self.items})"


def _inputs(value, index, needs_grad):
    return lambda: (
        torch.tensor([value, 1.0, 2.0]),
        torch.tensor(index),
        torch.ones(4, 3, requires_grad=needs_grad),
        _Box(),
        {"a": 1},
    )


def _shown(seen):
    """What must agree: compiled code has its own gradient functions, and texts of errors."""
    text = re.sub("grad_fn=<.*?>", "grad_fn", seen.text)
    if seen.error is not None and seen.error[0] is not ValueError:
        return text, "failed"
    error = re.sub("grad_fn=<.*?>", "grad_fn", str(seen.error))
    return text, seen.value, error, seen.inputs, seen.gradients


@pytest.mark.parametrize("seed", range(16))
def test_it_shows_what_the_original_shows(seed):
    make, needs_grad = _program(seed), seed % 4 == 0
    for value, index in ((0.0, [1, 2]), (9.0, [1, 2]), (-3.0, [1, 0]), (0.0, [1, 7])):
        inputs = _inputs(value, index, needs_grad)
        wanted = _shown(see(make(_require_in_place, print), inputs))
        torch._dynamo.reset()
        backend = "aot_eager" if seed % 2 else "eager"
        compiled = torch.compile(make(_require, _report), backend=backend)
        assert _shown(see(compiled, inputs)) == wanted
