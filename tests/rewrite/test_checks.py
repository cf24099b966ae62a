"""Statements that cannot move into a function of their own, each refused for its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmend.api import fix_source

_HEAD = """\
import logging
import warnings

import torch
from torch import nn

logger = logging.getLogger(__name__)


"""
# A reason, and a program for which it is the first one against moving its statement.
MOVED = {
    "is not known to be free of effects": """
import elsewhere

def entry(x):
    print(elsewhere.name(3))
    return torch.sin(x)
""",
    "awaits, yields or binds a name inside an expression": """
def entry(x):
    if (worst := x.min()) < 0:
        raise ValueError(f"{worst}")
    return torch.sin(x)
""",
    "`dir` would see another frame": """
def entry(x):
    if (x < 0).any():
        raise ValueError(dir())
    return torch.sin(x)
""",
    "`__class__` means the class only inside its methods": """
class Net(nn.Module):
    def forward(self, x):
        print(__class__.__name__)
        return torch.sin(x)
""",
    "`kind` is bound in it and read afterwards": """
def entry(x):
    if (x < 0).any():
        raise ValueError("negative")
    else:
        kind = "positive"
    return torch.sin(x), kind
""",
    "`text` is bound before it and read in it": """
def entry(x, strict: bool):
    text = "negative"
    if (x < 0).any():
        if strict:
            text = "strictly negative"
        raise ValueError(text)
    return torch.sin(x)
""",
    "`table[0].last` may be written before the end": """
class State:
    last = 1

table = (State(),)

def note(value):
    table[0].last = value

def entry(x):
    if (x < 0).any():
        raise ValueError(f"{table[0].last}")
    return torch.sin(x)
""",
    "`extra` may be unbound where the statement stands": """
def entry(x, flag: bool):
    if flag:
        extra = x.shape
    if (x < 0).any():
        raise ValueError(f"{extra}")
    return torch.sin(x)
""",
    "arguments are unpacked; they may hold the stack level": """
def entry(x, more):
    warnings.warn("odd", **more)
    return torch.sin(x)
""",
    "the warning skips frames by their files": """
def entry(x):
    warnings.warn("odd", skip_file_prefixes=("/lib",))
    return torch.sin(x)
""",
    "its stack level is not a positive constant": """
def entry(x, level: int):
    warnings.warn("odd", stacklevel=level)
    return torch.sin(x)
""",
    "it shares its line with other statements": """
def entry(x):
    y = x * 1; assert (x > 0).all()
    return y
""",
}
IN_GRAPH = {
    "its test rests on too many tensors": """
def entry(x):
    a, b, c, d = x.max() > 1, x.min() < 0, x.sum() > 3, x.mean() > 2
    if a or b or c or d:
        raise ValueError("bad")
    return x * 2
""",
}
PLAIN = {
    "it awaits, yields or binds a name inside an expression": """
def entry(x):
    if (worst := x.min()) < 0:
        raise ValueError("bad")
    return x * 2
""",
    "`x > 0` is not known to be a tensor of one element": """
def entry(x: torch.Tensor):
    if x > 0:
        raise ValueError("bad")
    return x * 2
""",
}


def _stays(text: str, reason: str, folder: Path, **options: object) -> None:
    """The program stays as it is, and the report says why."""
    path = folder / "program.py"
    path.write_text(text)
    result = fix_source(text, str(path), **options)  # type: ignore[arg-type]
    assert result.source == text
    assert any(reason in str(finding.reason) for finding in result.findings), result.findings


@pytest.mark.parametrize("reason", MOVED)
def test_a_statement_that_cannot_move(reason: str, tmp_path: Path) -> None:
    _stays(_HEAD + MOVED[reason], reason, tmp_path)


@pytest.mark.parametrize("reason", IN_GRAPH)
def test_a_guard_that_is_no_assert_in_the_graph(reason: str, tmp_path: Path) -> None:
    _stays(_HEAD + IN_GRAPH[reason], reason, tmp_path, trap="async")


@pytest.mark.parametrize("reason", PLAIN)
def test_a_guard_that_is_no_plain_assert(reason: str, tmp_path: Path) -> None:
    _stays(_HEAD + PLAIN[reason], reason, tmp_path, trap="async", plain=True)
