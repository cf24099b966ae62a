"""What the tests of `verify` share."""

from __future__ import annotations

import warnings

import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def imported_compiler() -> None:
    """What importing the compiler warns about the first time is no output of a program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.compile(lambda x: x + 1, backend="aot_eager")(torch.ones(2))
