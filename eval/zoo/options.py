"""The options of `python -m eval zoo`. Importing this needs no library beyond Python's own."""

from __future__ import annotations

import argparse
from pathlib import Path

from eval.zoo.jobs import VARIANTS
from eval.zoo.libraries import LIBRARIES

RESULTS = Path(__file__).resolve().parent.parent / "results"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--library", choices=LIBRARIES, default="transformers")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these architectures alone")
    parser.add_argument("--limit", type=int, metavar="N", help="stop after N that are not done yet")
    parser.add_argument("--shard", metavar="I/N", help="every Nth architecture, from the Ith (0..)")
    parser.add_argument("--variants", default=",".join(VARIANTS), help="of base, head, float16")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder for the results")
    parser.add_argument("--report", action="store_true", help="pages and plots of what is there")


def run(options: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    from eval.zoo import run  # needs tqdm and matplotlib, which the other commands do without

    return run.run(options)
