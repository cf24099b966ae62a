"""T4 to T6 and T8: guards that are control flow, protect something, or have writes around them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.semantics.alike import refused
from tests.semantics.lines import named

_HEAD = """
import contextlib
import time
import torch
from torch import nn

class Other(Exception):
    pass

"""
REFUSED = {
    "a handler in place (T4)": (
        """
def entry(x: torch.Tensor):
    try:
        if (x < 0).any():
            raise ValueError("negative")
    except ValueError:
        x = -x
    return x
""",
        "except",
    ),
    "a handler of a base class in a caller's caller (T4)": (
        """
def check(x: torch.Tensor):
    if (x < 0).any():
        raise KeyError("negative")
    return torch.relu(x)

def middle(x):
    return check(x) + 1

def entry(x: torch.Tensor):
    try:
        return middle(x)
    except LookupError:
        return x
""",
        "except LookupError",
    ),
    "a handler that raises something else (T4)": (
        """
def check(x: torch.Tensor):
    assert (x > 0).all()
    return torch.relu(x)

def entry(x: torch.Tensor):
    try:
        return check(x)
    except AssertionError as error:
        raise Other("bad") from error
""",
        "except AssertionError",
    ),
    "a with that swallows (T4)": (
        """
def entry(x: torch.Tensor):
    with contextlib.suppress(Exception):
        if (x < 0).any():
            raise ValueError("negative")
    return x
""",
        "suppress",
    ),
    "AttributeError under __getattr__ (T4)": (
        """
class Net(nn.Module):
    @torch.compile
    def __getattr__(self, name):
        if torch.isnan(self.x).any():
            raise AttributeError(name)
        return self.x

    def forward(self, x: torch.Tensor):
        return getattr(self, "value", x)
""",
        "AttributeError",
    ),
    "IndexError under __getitem__ (T4)": (
        """
class Rows(nn.Module):
    @torch.compile
    def __getitem__(self, i: torch.Tensor):
        if (i > 3).any():
            raise IndexError("i")
        return torch.relu(i)

    def forward(self, x: torch.Tensor):
        return self[x]
""",
        "LookupError",
    ),
    "StopIteration under __next__ (T4)": (
        """
class Steps(nn.Module):
    @torch.compile
    def __next__(self):
        if (self.x > 3).any():
            raise StopIteration
        return torch.relu(self.x)

    def forward(self, x: torch.Tensor):
        return sum(self)
""",
        "StopIteration",
    ),
    "an index that it protects (T6)": (
        """
def entry(x: torch.Tensor, i: torch.Tensor):
    if (i >= 4).any():
        raise IndexError("i")
    return x[i]
""",
        "fail on data",
    ),
    "an embedding in a submodule that it protects (T6)": (
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(4, 2)

    def forward(self, i: torch.Tensor):
        if (i >= 4).any():
            raise IndexError("i")
        return self.embed(i)
""",
        "fail on data",
    ),
    "a division of integers that it protects (T6)": (
        """
def entry(x: torch.Tensor, n: torch.Tensor):
    assert (n != 0).all(), "zero"
    return torch.floor_divide(x, n)
""",
        "fail on data",
    ),
    "a factorisation that it protects (T6)": (
        """
def entry(x: torch.Tensor):
    if torch.linalg.det(x) == 0:
        raise ValueError("singular")
    return torch.linalg.inv(x)
""",
        "fail on data",
    ),
    "a finally block that writes (T8)": (
        """
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        try:
            if torch.isnan(x).any():
                raise ValueError("nan")
            return x * 2
        finally:
            self.left = 1
""",
        "try/finally",
    ),
}


@pytest.mark.parametrize("name", named(REFUSED, "refused"))
def test_a_guard_that_must_stay_is_left(name: str, tmp_path: Path) -> None:
    text, reason = REFUSED[name]
    refused(_HEAD + text, tmp_path, "GM30", reason)


@pytest.mark.semantics("T4", "refused")
def test_a_caller_in_a_file_that_was_not_named_catches(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "user.py").write_text(
        "import torch\nfrom program import check\n\ndef entry(x):\n    try:\n"
        "        return check(x)\n    except ValueError:\n        return torch.relu(x)\n"
    )
    text = (
        "import torch\n\ndef check(x: torch.Tensor):\n    if (x < 0).any():\n"
        "        raise ValueError('negative')\n    return x + 1\n"
    )
    refused(text, tmp_path, "GM301", "user.py")
