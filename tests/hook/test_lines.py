"""Each line of a mended text stands for the right line of the original."""

from __future__ import annotations

import ast
import importlib.util
from types import CodeType

import pytest

from graphmend.edits import apply
from graphmend.findings import Edit
from graphmend.hook.lines import Origin, line_origins
from graphmend.hook.positions import relocate

FORWARD = """\
import torch


class Model:
    def forward(self, x):
        if x.sum() > 0:
            # explain
            raise ValueError(
                f"bad {x}"
            )
        return x
"""


def spot(text: str, part: str) -> tuple[int, int]:
    """Where `part` stands in `text`."""
    return text.index(part), text.index(part) + len(part)


def firsts(text: str, edits: list[Edit]) -> list[int]:
    """The original line of each line of the mended text."""
    return [origin.first for origin in line_origins(text, edits)]


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ([Edit(0, 5, "", 1), Edit(3, 8, "", 1)], "overlap"),
        ([Edit(0, 10_000, "", 1)], "outside"),
        ([Edit(5, 3, "", 1)], "backwards"),
    ],
)
def test_edits_that_do_not_fit_are_refused(edits: list[Edit], reason: str) -> None:
    with pytest.raises(ValueError):
        line_origins(FORWARD, edits)


def test_without_edits_lines_are_their_own() -> None:
    origins = line_origins(FORWARD, [])
    assert origins == [Origin(n, n, 0) for n in range(1, len(FORWARD.split("\n")) + 1)]


def outlined() -> list[Edit]:
    """The guard of FORWARD outlined above the class, with an import."""
    guard = FORWARD[FORWARD.index("if x.sum") : FORWARD.index("        return")].rstrip()
    moved = guard.replace("\n        ", "\n    ")
    helper = f"@deferred_check\ndef _check(x):\n    {moved}\n\n\n"
    above = FORWARD.index("class")
    start, end = spot(FORWARD, guard)
    return [
        Edit(12, 12, "\nfrom graphmend.runtime import deferred_check", 1),
        Edit(above, above, helper, 4),
        Edit(start, end, "_check(x)", 6),
    ]


def test_an_outlined_statement_stands_for_itself() -> None:
    edits = outlined()
    mended = apply(FORWARD, edits).split("\n")
    origins = dict(zip(mended, line_origins(FORWARD, edits), strict=True))
    assert origins["@deferred_check"].first == 6
    assert origins["def _check(x):"].first == 6
    assert origins["    if x.sum() > 0:"] == Origin(6, 6, 4)
    assert origins["        # explain"].first == 7
    assert origins["        raise ValueError("] == Origin(8, 8, 4)
    assert origins['            f"bad {x}"'] == Origin(9, 9, 4)
    assert origins["        _check(x)"] == Origin(6, 10, None)
    assert origins["        return x"] == Origin(11, 11, 0)
    assert origins["class Model:"] == Origin(4, 4, 0)


def test_the_count_comes_back_in_step_after_an_added_or_changed_line() -> None:
    text = "def f(x):\n    warn(\n        'a'\n    )\n    return x\n\n\nlast = 1\n"
    at = text.index("def")
    helper = "@d\ndef h():\n    warn(\n        'a',\n        stacklevel=2,\n    )\n\n\n"
    origins = firsts(text, [Edit(at, at, helper, 0)])
    assert origins[:6] == [2, 2, 2, 3, 4, 4]
    assert origins[8:] == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_a_line_changed_in_part_stays_itself() -> None:
    text = "a = 1; print(a)  # note\nb = 2\n"
    start, end = spot(text, "print(a)")
    assert line_origins(text, [Edit(start, end, "h(a)", 1)])[0] == Origin(1, 1, None)


def test_deleted_and_joined_lines() -> None:
    text = "a\nb\nc\nd\n"
    assert firsts(text, [Edit(2, 4, "", 2)]) == [1, 3, 4, 5]
    assert line_origins(text, [Edit(1, 2, " ", 1)])[0] == Origin(1, 2, None)


def test_edits_at_both_ends_of_the_text() -> None:
    text = "a = 1"
    edits = [Edit(0, 0, "import x\n", 1), Edit(5, 5, "\nb = 2", 1)]
    assert apply(text, edits) == "import x\na = 1\nb = 2"
    assert firsts(text, edits)[:2] == [1, 1]
    assert all(1 <= o.first <= o.last <= 1 for o in line_origins(text, edits))


def test_an_origin_outside_the_text_is_drawn_in() -> None:
    origins = line_origins("a\nb\n", [Edit(0, 0, "x\ny\nz\n", 40), Edit(0, 0, "w\n", -3)])
    assert all(1 <= o.first <= o.last <= 3 for o in origins)


def positions(code: CodeType) -> dict[str, list[object]]:
    """The positions of every instruction, by qualified name of its code."""
    found = {code.co_qualname + str(code.co_firstlineno): list(code.co_positions())}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= positions(constant)
    return found


@pytest.mark.parametrize(
    "name", ["dataclasses", "argparse", "typing", "functools", "inspect", "asyncio.base_events"]
)
def test_code_outside_the_edits_is_the_original_code(name: str) -> None:
    """Real modules, an outlined function above each top-level function and class."""
    path = importlib.util.find_spec(name).origin
    with open(path, encoding="utf-8") as file:
        text = file.read()
    original = ast.parse(text)
    lines = text.split("\n")
    edits = []
    for node in original.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            at = sum(len(line) + 1 for line in lines[: first - 1])
            edits.append(Edit(at, at, "def added(x):\n    if x:\n        added(x)\n\n\n", first))
    tree = ast.parse(apply(text, edits))
    relocate(tree, line_origins(text, edits), text)
    mended = positions(compile(tree, path, "exec", dont_inherit=True))
    expected = positions(compile(text, path, "exec", dont_inherit=True))
    del expected["<module>1"]
    assert edits
    assert {key: mended[key] for key in expected} == expected


def test_no_node_ends_before_it_begins() -> None:
    edits = outlined()
    tree = ast.parse(apply(FORWARD, edits))
    relocate(tree, line_origins(FORWARD, edits), FORWARD)
    width = [len(line) for line in FORWARD.split("\n")]
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            assert (node.lineno, node.col_offset) <= (node.end_lineno, node.end_col_offset)
            assert node.end_col_offset <= width[node.end_lineno - 1]
    compile(tree, "x", "exec")
