"""Programs that once behaved differently when mended; each file says how it is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.fuzz import batch
from eval.fuzz.compare import compare
from eval.fuzz.files import read

FOUND = sorted((Path(__file__).parent / "found").glob("*.py"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_it_behaves_as_it_was_written(path: Path, tmp_path: Path) -> None:
    with batch.prepared():
        assert compare(read(path.read_text(encoding="utf-8")), tmp_path).difference is None
