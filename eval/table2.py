"""`python -m eval table2`: the published table's models, before and after mending."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from corpus.recipe import Recipe
from corpus.registry import TABLE2, recipe
from eval.cells import Row
from eval.machine import describe, versions
from eval.report import markdown, print_table, write_json_lines
from eval.row import measure

MEASURED_ON = {"transformers": "4.52.4"}
RESULTS = Path(__file__).resolve().parent / "results"


def run(names: Sequence[str], output: Path | None) -> int:
    """Measure the named models, all where none is named; returns the exit code.

    Results are written below `output`; a run of all models writes to `eval/results` by default,
    a run of some only prints. 1 where a row's outputs differ, where one of its processes failed,
    or where mending was inert: then nothing was measured.
    """
    recipes: Sequence[Recipe] = [recipe(name) for name in names] if names else TABLE2
    _warn_about_versions()
    about = {"command": " ".join(["python -m eval table2", *names]), **describe()}
    rows: list[Row] = []
    folder = output or (None if names else RESULTS)
    with tempfile.TemporaryDirectory(prefix="graphmend-eval-") as scratch:
        for one in recipes:
            rows.append(measure(one, Path(scratch) / one.name, Progress()))
            if folder is not None:
                _write(folder, about, rows)
    print_table(rows)
    return 0 if all(row["equal"] and not row["mend"]["inert"] for row in rows) else 1


def _write(folder: Path, about: dict[str, str], rows: Sequence[Row]) -> None:
    """Written anew after every row, so that a run that is cut short leaves what it had."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json_lines(folder / "table2.jsonl", about, rows)
    (folder / "table2.md").write_text(markdown(about, rows), encoding="utf-8")


def _warn_about_versions() -> None:
    installed = versions()
    for package, wanted in MEASURED_ON.items():
        if installed[package] != wanted:
            print(
                f"eval: {package} {installed[package]} is installed; the expected counts are "
                f"those of {wanted}",
                file=sys.stderr,
            )


class Progress:
    """Says on stderr which process runs, and how long after the start of its row."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def __call__(self, text: str) -> None:
        print(f"[{time.monotonic() - self._start:5.1f} s] {text}", file=sys.stderr, flush=True)
