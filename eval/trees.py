"""`python -m eval trees`: whole libraries mended, and what must hold of them afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.machine import describe
from eval.report import write_json_lines
from eval.table2 import RESULTS, Progress
from eval.tree_checks import changed, lost_comments, not_compiling, texts
from eval.tree_fix import FIX, by_code, by_reason, fix
from eval.tree_imports import Failures, import_failures, module_name
from eval.tree_report import Row, markdown, summary
from eval.tree_sources import LIBRARIES, Library, Tree, fetch


def run(names: Sequence[str], output: Path | None) -> int:
    """Mend the named libraries, all where none is named; returns the exit code.

    Results are written below `output`; a run of all writes to `eval/results` by default, a run
    of some only prints. 1 where something does not hold of a mended tree.
    """
    about = {"command": " ".join(["python -m eval trees", *names]), **describe()}
    del about["transformers"]  # which is installed here does not matter: the rows say what was read
    folder = output or (None if names else RESULTS)
    rows: list[Row] = []
    progress = Progress()
    for library in LIBRARIES:
        if names and library.name not in names:
            continue
        with tempfile.TemporaryDirectory(prefix="graphmend-trees-") as scratch:
            rows.append(_library(library, Path(scratch), progress))
        print(summary(rows[-1]), flush=True)
        if folder is not None:
            write(folder, about, rows)
    return 0 if all(row["holds"] for row in rows) else 1


def write(folder: Path, about: dict[str, str], rows: Sequence[Row]) -> None:
    """Write the results; anew after every row, so that a run cut short leaves what it had."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json_lines(folder / "trees.jsonl", about, rows)
    (folder / "trees.md").write_text(markdown(about, rows), encoding="utf-8")


def _library(library: Library, scratch: Path, progress: Progress) -> Row:
    progress(f"{library.name}: installing")
    original = fetch(library, scratch / "original")
    mended = original.copy(scratch / "mended")
    progress(f"{library.name}: mending")
    row = mend(mended, FIX)
    modules = [module_name(library.package, path) for path in row["files_mended"]]
    progress(f"{library.name}: importing {len(modules)} modules, twice")
    row["imports"] = imports(original, mended, modules)
    row["problems"]["imports"] = row["imports"]["new"]
    return {
        "name": library.name,
        "distribution": library.distribution,
        "version": library.version,
        "remark": library.remark,
        **row,
        "holds": not any(row["problems"].values()),
    }


def mend(tree: Tree, command: Sequence[str]) -> Row:
    """Run `command` over a tree, and once more over what it mended; the figures, and what is wrong.

    The second run is over the mended files only: a run over everything takes as long again.
    """
    before = texts(tree.package)
    first = fix([tree.package.name], tree.site, command)
    after = texts(tree.package)
    mended = changed(before, after)
    runs = [first]
    if mended:
        runs.append(fix([f"{tree.package.name}/{path}" for path in mended], tree.site, command))
    again = changed(after, texts(tree.package))
    return {
        "files": len(before),
        "lines": sum(text.count(b"\n") for text in before.values()),
        "files_mended": mended,
        "status": first.status,
        "seconds": first.seconds,
        "seconds_again": sum(run.seconds for run in runs[1:]),
        "codes": by_code(first.findings),
        "reasons": by_reason(first.findings),
        "errors": [f"{error['path']}: {error['message']}" for error in first.errors],
        "problems": {
            "crashes": [run.crash for run in runs if run.crash is not None],
            "do not compile": not_compiling(after, mended),
            "lost comments": lost_comments(before, after, mended),
            "changed by a second fix": again,
        },
    }


def imports(original: Tree, mended: Tree, modules: Sequence[str]) -> dict[str, Any]:
    """How many of the modules fail to import, before and after, and the failures that are new."""
    before = import_failures(original, modules)
    after = import_failures(mended, modules)
    return {
        "modules": len(modules),
        "failed_before": len(before),
        "failed_after": len(after),
        "failures_before": before,
        "new": new_failures(before, after),
    }


def new_failures(before: Failures, after: Failures) -> list[str]:
    """The modules that fail after mending only, or otherwise than before, each with the error."""
    return [f"{name}: {text}" for name, text in after.items() if before.get(name) != text]


def known_names() -> list[str]:
    """The names of the libraries, as the command line takes them."""
    return [library.name for library in LIBRARIES]
