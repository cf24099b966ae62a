"""Fixtures of the front end's tests."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.ir.samples import standard_library


@pytest.fixture(scope="session")
def libraries() -> list[Path]:
    """Every file of the standard library and of transformers."""
    spec = importlib.util.find_spec("transformers")
    assert spec is not None and spec.origin is not None
    return standard_library() + sorted(Path(spec.origin).parent.rglob("*.py"))
