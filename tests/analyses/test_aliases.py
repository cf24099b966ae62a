"""Aliases: names that share memory, and the writes that come after a statement."""

import ast
from pathlib import Path

from tests.analyses.snippets import Snippet

_PROGRAM = """
def same(value):
    return value

def copied(value):
    return value.clone()

def f(x: Tensor, other: Tensor, n: int):
    view = x.view(-1)
    part = x[0]
    plain = x
    flat = x.float()
    mask = x[x > 0]
    fresh = x * 2
    also = x.clone()
    pair = (x, fresh)
    out, _ = pair
    held = [also]
    back = same(x)
    new = copied(x)
    joined = fresh if n else x
    for item in held:
        last = item
    return view, part, plain, flat, mask, fresh, also, out, back, new, joined, last
"""


def test_views_and_names_may_alias(tmp_path: Path) -> None:
    snippet = Snippet(tmp_path, _PROGRAM)
    function = snippet.function()
    for name in ("view", "part", "plain", "flat", "pair", "out", "back", "joined", "other"):
        assert snippet.aliases.may_alias("x", name, function), name
    assert snippet.aliases.may_alias("last", "also", function)
    assert snippet.aliases.may_alias("joined", "fresh", function)


def test_copies_do_not_alias(tmp_path: Path) -> None:
    snippet = Snippet(tmp_path, _PROGRAM)
    function = snippet.function()
    for name in ("mask", "fresh", "also", "new", "last"):
        assert not snippet.aliases.may_alias("x", name, function), name
    assert not snippet.aliases.may_alias("fresh", "also", function)
    assert not snippet.aliases.may_alias("x", "n", function)


def _after(snippet: Snippet, value: str, statement: str, name: str = "f") -> list[str]:
    function = snippet.function(name)
    start = snippet.statement(statement, function)
    return [ast.unparse(s) for s in snippet.aliases.written_after([value], start, function)]


def test_later_writes_through_views_are_found(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        def fill(t):
            t.zero_()

        def f(x: Tensor):
            y = x * 2
            z = y.view(-1)
            x.add_(1)
            print(y)
            z.add_(1)
            fill(y)
            w = y + 1
            w.add_(1)
            y = w
            return y
        """,
    )
    assert _after(snippet, "y", "print") == ["z.add_(1)", "fill(y)", "w.add_(1)"]
    assert _after(snippet, "x", "print") == []
    assert _after(snippet, "x", "z = ") == ["x.add_(1)"]


def test_loops_come_back(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        def f(x: Tensor, n: int):
            y = x * 2
            for _ in range(n):
                y.add_(1)
                print(y)
            return y
        """,
    )
    assert _after(snippet, "y", "print") == ["y.add_(1)"]
    assert _after(snippet, "y", "return") == []


def test_what_comes_from_outside_may_all_be_the_same(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("inv", torch.ones(3))
                self.original = self.inv

            def forward(self, x: Tensor):
                print(x)
                self.inv.copy_(x * 2)
                own = torch.zeros(3)
                own.add_(1)
                return self.original
        """,
    )
    assert _after(snippet, "x", "print", "Layer.forward") == ["self.inv.copy_(x * 2)"]
    function = snippet.function("Layer.forward")
    start = snippet.statement("print", function)
    outside = snippet.aliases.outside_written_after(start, function)
    assert [ast.unparse(s) for s in outside] == ["self.inv.copy_(x * 2)"]
    original = snippet.find("self.original", function)[0]
    inv = snippet.find("self.inv", function)[0]
    assert snippet.aliases.may_alias(original, inv, function)


def test_long_tangles_of_loops_end(tmp_path: Path) -> None:
    names = [f"v{i}" for i in range(30)]
    lines = [
        f"    {a} = call({a}, {b}, {c})"
        for a, b, c in zip(names, names[1:], names[2:], strict=False)
    ]
    body = "\n    ".join(lines)
    snippet = Snippet(
        tmp_path,
        f"def f(x: Tensor, n: int, call):\n    {' = '.join(names)} = x\n"
        f"    for _ in range(n):\n    {body}\n    return v0\n",
    )
    assert snippet.aliases.may_alias("v0", "x", snippet.function())


def test_recursive_structures_end(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        class Tree:
            def __init__(self, left: "Tree", right: "Tree"):
                self.left, self.right, self.count = left, right, 0

            def touch(self):
                self.count += 1
                self.left.touch()
                self.right.touch()

        def f():
            leaf = Tree(None, None)
            tree = Tree(leaf, leaf)
            tree.touch()
            return tree
        """,
    )
    touch = snippet.function("Tree.touch")
    assert snippet.effects.of_function(touch).writes
    assert not snippet.effects.of_function(touch).pure


def test_a_name_bound_to_a_call_that_returns_it_ends(tmp_path: Path) -> None:
    snippet = Snippet(
        tmp_path,
        """
        def f(options):
            found = {"lr": options}

            def extended():
                found.update(options)
                return found

            found = extended()
            found.update(options)
            return found
        """,
    )
    assert snippet.effects.of_function(snippet.function("f")).writes
