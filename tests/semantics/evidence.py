"""Which tests are evidence for which lines, by their marks."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True, order=True)
class Evidence:
    """A test shows, for one line, that `legal` fixes keep it or that others are `refused`."""

    line: str
    side: str
    test: str


def collect(paths: Iterable[Path] = (TESTS,)) -> list[Evidence]:
    """The evidence of the tests that CI runs, sorted; raises SystemExit where they do not load."""
    found = _Items()
    output = io.StringIO()
    settings = ["-p", "no:cacheprovider", "-c", str(TESTS.parent / "pyproject.toml"), "-n0"]
    arguments = ["--collect-only", "-qq", *settings, *map(str, paths)]
    with contextlib.redirect_stdout(output):
        status = pytest.main(arguments, plugins=[found])
    if status != pytest.ExitCode.OK:
        raise SystemExit(output.getvalue().partition("= ERRORS =")[2] or output.getvalue())
    return sorted({evidence for item in found.items for evidence in _of(item)})


class _Items:
    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = session.items


def _of(item: pytest.Item) -> list[Evidence]:
    """What an item is marked with; marks on a parameter name it, others the whole function."""
    spec = getattr(item, "callspec", None)
    of_parameters = [] if spec is None else list(spec.marks)
    return [
        Evidence(
            *mark.args, item.nodeid if mark in of_parameters else item.nodeid.partition("[")[0]
        )
        for mark in item.iter_markers("semantics")
    ]
