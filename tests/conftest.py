"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stored results of a test go to a folder of its own, never to the user's cache."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("GRAPHMEND_CACHE_DIR", str(folder))
    return folder
