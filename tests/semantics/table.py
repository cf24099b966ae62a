"""The table of lines and their tests, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.semantics.evidence import Evidence
from tests.semantics.lines import Line

TABLE = Path(__file__).with_name("TABLE.md")
_SIDES = ("legal", "refused")
_HEAD = """\
# What a mended program must keep, and the tests that show it

Made by `python -m tests.semantics`. *Legal*: fixes that are made behave as the original.
*Refused*: fixes that would not are not made.
"""


def render(lines: Sequence[Line], evidence: Sequence[Evidence]) -> str:
    """The table as Markdown, a section a line and an item a test."""
    parts = [_HEAD]
    for line in lines:
        parts.append(f"\n## {line.name}\n\n{line.says}\n\n")
        for side in _SIDES:
            tests = [e.test for e in evidence if (e.line, e.side) == (line.name, side)]
            parts += [f"- {side}: `{test.removeprefix('tests/')}`\n" for test in tests]
    return "".join(parts)


def problems(lines: Sequence[Line], evidence: Sequence[Evidence]) -> list[str]:
    """Lines without the tests that they need, and marks that name no line or no side."""
    known = {line.name for line in lines}
    found = {(e.line, e.side) for e in evidence}
    return [
        *(f"{e.test}: no line {e.line}" for e in evidence if e.line not in known),
        *(f"{e.test}: {e.side} is none of {_SIDES}" for e in evidence if e.side not in _SIDES),
        *(
            f"{line.name} has no {side} test"
            for line in lines
            for side in sorted(line.needs)
            if (line.name, side) not in found
        ),
    ]
