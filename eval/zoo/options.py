"""The options of `python -m eval zoo`. Importing this needs no library beyond Python's own."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

from eval.job import ROOT
from eval.zoo.jobs import VARIANTS
from eval.zoo.libraries import LIBRARIES

RESULTS = Path(__file__).resolve().parent.parent / "results"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--library", choices=LIBRARIES, default="transformers")
    parser.add_argument("--newest", action="store_true", help="in an environment with the newest")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these architectures alone")
    parser.add_argument("--limit", type=int, metavar="N", help="stop after N that are not done yet")
    parser.add_argument("--shard", metavar="I/N", help="every Nth architecture, from the Ith (0..)")
    parser.add_argument("--variants", default=",".join(VARIANTS), help="of base, head, float16")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder for the results")
    parser.add_argument("--report", action="store_true", help="pages and plots of what is there")


def run(options: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    if options.newest:
        return _elsewhere(options)
    from eval.zoo import run  # needs tqdm and matplotlib, which the other commands do without

    return run.run(options)


def as_arguments(options: argparse.Namespace) -> list[str]:
    """The command line that says the same, but for `--newest`."""
    words = ["--library", options.library, "--variants", options.variants]
    words += ["--output", str(options.output.resolve())]
    for name in ("only", "limit", "shard"):
        value = getattr(options, name)
        if value is not None:
            words += [f"--{name}", *map(str, value if isinstance(value, list) else [value])]
    return ["zoo", *words, *["--report"] * options.report]


def _elsewhere(options: argparse.Namespace) -> int:
    """The same by a Python that has the versions that `eval trees` reads, made where missing."""
    from eval.environment import python_for
    from eval.tree_sources import LIBRARIES as SOURCES

    newest = {one.distribution: one.version for one in SOURCES}  # the last one of each name
    wanted = dict.fromkeys([options.library, "transformers"])
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    plots = [line for line in lines if line.startswith("matplotlib==")]
    python = python_for([*(f"{name}=={newest[name]}" for name in wanted), *plots])
    return subprocess.run([python, "-m", "eval", *as_arguments(options)], cwd=ROOT).returncode
