"""The values in corpus/zoo.toml, put into default configurations."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).resolve().parent.parent.parent / "corpus" / "zoo.toml"


def corrected(library: str, name: str, config: Any) -> Any:
    """The configuration, with what the file says about this architecture put in."""
    for entry in entries().get(library, []):
        if name not in entry["names"]:
            continue
        for path, value in entry.get("set", {}).items():
            _set(config, path, value)
        for path, source in entry.get("same", {}).items():
            _set(config, path, _get(config, source))
    return config


@cache
def entries() -> dict[str, list[dict[str, Any]]]:
    """Entries by library: `names`, `set` or `same`, and the `reason`."""
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


def _get(config: Any, path: str) -> Any:
    for part in path.split("."):
        config = getattr(config, part)
    return config


def _set(config: Any, path: str, value: Any) -> None:
    owner, _, last = path.rpartition(".")
    setattr(_get(config, owner) if owner else config, last, value)
