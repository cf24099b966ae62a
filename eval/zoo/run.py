"""`python -m eval zoo`: every architecture of a library, small, before and after mending."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from tqdm import tqdm

from eval.machine import describe
from eval.zoo import plots, store
from eval.zoo.jobs import Arm
from eval.zoo.libraries import Library, library
from eval.zoo.nursery import Nursery
from eval.zoo.report import markdown, summary
from eval.zoo.row import measure

Json = dict[str, Any]


def run(options: argparse.Namespace) -> int:
    """Measure what is not in the results yet; 1 where a mended variant's outputs differ."""
    source = library(options.library)
    path = options.output / f"zoo-{options.library}.jsonl"
    if not options.report:
        _measure(options, source, path)
    rows = store.read(path)
    write_report(options.output, options.library, rows)
    print(summary(rows))
    return 1 if any(differs(row) for row in rows) else 0


def selected(names: Sequence[str], only: Sequence[str] | None, shard: str | None) -> list[str]:
    """The architectures asked for. ValueError where a name is not known."""
    unknown = sorted(set(only or ()) - set(names))
    if unknown:
        raise ValueError(f"no such architecture: {', '.join(unknown)}")
    first, _, step = (shard or "0/1").partition("/")
    return [name for name in names if not only or name in only][int(first) :: int(step)]


def differs(row: Json) -> bool:
    """Whether a mended variant gave other outputs than the original, or none."""
    variants = row["variants"].values()
    return any(
        one.get("mended_error") or not all(v["outputs"]["ok"] for v in one["agreement"].values())
        for one in variants
        if "error" not in one
    )


def _measure(options: argparse.Namespace, source: Library, path: Path) -> None:
    variants = tuple(options.variants.split(","))
    about = describe()
    key = {
        "library": options.library,
        "version": metadata.version(source.PACKAGE),
        "torch": about["torch"],
        "commit": about["commit"],
    }
    names = source.names()
    known = store.done(store.read(path), key)
    left = [
        name
        for name in selected(names, options.only, options.shard)
        if not set(variants) <= known.get(name, set())
    ]
    with (
        tempfile.TemporaryDirectory(prefix="graphmend-zoo-") as scratch,
        nurseries(options.library, Path(scratch)) as arms,
    ):
        for name in (bar := tqdm(left[: options.limit], unit="model")):
            bar.set_description(name)
            began = time.monotonic()
            row = measure(options.library, name, variants, Path(scratch) / name, arms)
            seconds = round(time.monotonic() - began, 1)
            about_row = {"key": {**key, "of": len(names)}, "date": describe()["date"]}
            store.append(path, {**row, **about_row, "wall_seconds": seconds})
    store.rewrite(path, store.read(path))


@contextlib.contextmanager
def nurseries(source: str, folder: Path) -> Iterator[dict[Arm, Nursery]]:
    """A process for each arm, which are ended afterwards."""
    arms: dict[Arm, Nursery] = {
        arm: Nursery(source, arm, folder / arm) for arm in ("original", "mended")
    }
    try:
        yield arms
    finally:
        for nursery in arms.values():
            nursery.close()


def write_report(folder: Path, name: str, rows: list[Json]) -> None:
    """The page and the plots of the rows."""
    if not rows:
        return
    (folder / f"zoo-{name}.md").write_text(markdown(rows), encoding="utf-8")
    plots.write(folder, name, rows)
