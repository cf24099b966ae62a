"""Counterexamples as files that hold all it takes to run them again."""

from __future__ import annotations

import json
from dataclasses import asdict

from eval.fuzz.programs import Arms, Program

_ARMS = "# arms: "
_SAYS = """\
# ruff: noqa
# fmt: off
# A program that behaves differently once mended. To see it:
#     python -m eval fuzz --replay THIS_FILE
{arms}
{difference}

"""


def as_text(program: Program, difference: str) -> str:
    """The text of a file for a program and what differs."""
    told = "\n".join(f"# {line}".rstrip() for line in difference.strip().splitlines())
    arms = _ARMS + json.dumps(asdict(program.arms))
    return _SAYS.format(arms=arms, difference=told) + program.text.lstrip()


def read(text: str) -> Program:
    """The program of a file. Raises ValueError where the file does not say how to run it."""
    for line in text.splitlines():
        if line.startswith(_ARMS):
            return Program(text, Arms(**json.loads(line.removeprefix(_ARMS))))
    raise ValueError(f"there is no line that begins with {_ARMS.strip()!r}")
