"""Command line of the harness."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from corpus.registry import TABLE2
from eval import compare, mutations, operator_report, table2, trees
from eval.zoo import options as zoo


def main(arguments: list[str] | None = None) -> int:
    """Run one of the harness's commands; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m eval", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    table = commands.add_parser("table2", help="breaks, equality and recompiles, model by model")
    known = [recipe.name for recipe in TABLE2]
    table.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(known)}")
    table.add_argument("--output", type=Path, help="folder for the results")
    whole = commands.add_parser("trees", help="whole libraries mended: figures and what holds")
    libraries = trees.known_names()
    whole.add_argument("libraries", nargs="*", metavar="LIBRARY", help=f"of {', '.join(libraries)}")
    whole.add_argument("--output", type=Path, help="folder for the results")
    off = commands.add_parser("mutations", help="each legality check switched off: a test fails")
    off.add_argument("checks", nargs="*", metavar="TEXT", help="only checks with it in their text")
    off.add_argument("--output", type=Path, help="folder for the results")
    off.add_argument("--reach", type=Path, help="file that keeps which tests reach which checks")
    off.add_argument("--tests", action="append", default=[], help="file or folder of tests (all)")
    off.add_argument("--record", action="store_true", help="record anew what the tests reach")
    drawn = commands.add_parser("fuzz", help="generated programs, original against mended")
    drawn.add_argument("--programs", type=int, default=20_000, help="about how many")
    drawn.add_argument("--seed", type=int, default=0, help="other programs with another seed")
    drawn.add_argument("--workers", type=int, default=2, help="processes")
    drawn.add_argument("--output", type=Path, help="folder for the results")
    drawn.add_argument("--replay", type=Path, metavar="FILE", help="run one counterexample again")
    facts = commands.add_parser("operators", help="the facts about operators, tried one by one")
    facts.add_argument("operators", nargs="*", metavar="OPERATOR", help="torch.cumsum, say (all)")
    facts.add_argument("--each", type=int, default=2, help="samples of one dtype")
    facts.add_argument("--output", type=Path, help="folder for the results")
    every = commands.add_parser("zoo", help="every architecture of a library, built small")
    zoo.add_arguments(every)
    two = commands.add_parser("compare", help="which rows of two results got better or worse")
    two.add_argument("old", type=Path, help="results, as JSON lines")
    two.add_argument("new", type=Path, help="results to compare with them")
    options = parser.parse_args(arguments)
    if options.command == "compare":
        return compare.run(options.old, options.new)
    if options.command == "zoo":
        return zoo.run(options)
    if options.command == "fuzz":
        return _fuzz(options)
    if options.command == "mutations":
        return mutations.run(
            options.checks, options.output, options.reach, options.tests, options.record
        )
    if options.command == "operators":
        return operator_report.run(options.operators, options.output, options.each)
    if options.command == "trees":
        _require_known("library", options.libraries, libraries, parser)
        return trees.run(options.libraries, options.output)
    _require_known("model", options.models, known, parser)
    return table2.run(options.models, options.output)


def _fuzz(options: argparse.Namespace) -> int:
    from eval.fuzz import run  # needs hypothesis and tqdm, which the others do without

    if options.replay is not None:
        return run.replay(options.replay)
    return run.run(options.programs, options.seed, options.workers, options.output)


def _require_known(
    what: str, names: list[str], known: list[str], parser: argparse.ArgumentParser
) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"no such {what}: {', '.join(unknown)} (known: {', '.join(known)})")


if __name__ == "__main__":
    sys.exit(main())
