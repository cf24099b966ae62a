"""What the tests of rewriters share."""

from __future__ import annotations

import warnings

import pytest
import torch


@pytest.fixture(scope="session")
def imported_compiler() -> None:
    """Inductor has been used: what it warns about the first time is no output of a program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.compile(lambda x: x + 1)(torch.ones(2))
