"""Rows as JSON lines, one an architecture, added one by one and read back by a later run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]
# A row is measured again when one of these differs.
KEY = ("library", "version", "torch", "commit")


def read(path: Path) -> list[Json]:
    """The rows of a file, the last one of each name; a line that was cut short is left out."""
    rows: dict[str, Json] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            rows[row["name"]] = row
    return sorted(rows.values(), key=lambda row: str(row["name"]))


def done(rows: list[Json], key: Json) -> dict[str, set[str]]:
    """The variants that were measured under this key, by architecture."""
    return {
        row["name"]: set(row["variants"])
        for row in rows
        if all(row["key"].get(part) == key[part] for part in KEY)
    }


def append(path: Path, row: Json) -> None:
    """Add a row at the end, on disk before this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def rewrite(path: Path, rows: list[Json]) -> None:
    """One line an architecture, in order of their names."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
