"""The commands and their options; what they do lives in the modules they import when called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from graphmend.cli.form import form_option
from graphmend.cli.options import Options
from graphmend.cli.selftest import selftest
from graphmend.cli.verify import verify
from graphmend.report.console import Console
from graphmend.version import __version__

Command = TypeVar("Command", bound=Callable[..., Any])

EPILOG = (
    "Exit status: 0 nothing found, 1 break sites found (for fix: left unmended; "
    "with --diff, all are left), 2 a file could not be processed, or wrong usage."
)


def main() -> None:
    """The `graphmend` command. Exits with 0, 1 or 2, and 130 when interrupted."""
    try:
        code = group.main(prog_name="graphmend", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = 2
    except click.Abort:
        click.echo("interrupted", err=True)
        code = 130
    except OSError as error:
        click.echo(f"error: cannot write the output: {error.strerror or error}", err=True)
        code = 2
    sys.exit(code)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="graphmend", message="%(prog)s %(version)s")
def group() -> None:
    """Find and repair torch.compile graph breaks, without changing what the program does."""


def _what_fixes_become(command: Command) -> Command:
    """The options, of `run` too, that say which form fixes have."""
    plain = click.option(
        "--plain", is_flag=True, help="Leave out fixes that import graphmend at run time."
    )
    trap = click.option(
        "--trap",
        type=click.Choice(["deferred", "async"]),
        default="deferred",
        show_default=True,
        help="Guards become checks behind the graph, or asserts inside it.",
    )
    return plain(trap(command))


def _shared(command: Command) -> Command:
    """The options that `check` and `fix` have in common."""
    options = [
        click.argument("paths", nargs=-1, required=True, metavar="PATH..."),
        click.option(
            "--stdin-filename", metavar="FILE", help="Name of the text on stdin (PATH is -)."
        ),
        click.option(
            "--select",
            multiple=True,
            metavar="CODE",
            help="Run these rules only: codes or prefixes, comma separated.",
        ),
        click.option(
            "--ignore",
            multiple=True,
            metavar="CODE",
            help="Leave these rules out: codes or prefixes, comma separated.",
        ),
        click.option(
            "--unsafe",
            is_flag=True,
            help="Include fixes that rest on an assumption; the report names it.",
        ),
        click.option(
            "--generated",
            is_flag=True,
            help="Include fixes in files whose header says that they are generated.",
        ),
        _what_fixes_become,
        form_option("A line for each site, or one document."),
        click.option(
            "-j",
            "--jobs",
            type=click.IntRange(min=1),
            metavar="N",
            help="Number of processes; by default one for each CPU.",
        ),
        click.option("--no-cache", is_flag=True, help="Neither read nor write stored results."),
        click.option("--exit-zero", is_flag=True, help="Exit with 0 even if sites are found."),
        click.option("-q", "--quiet", is_flag=True, help="No summary; findings and errors only."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@group.command(epilog=EPILOG)
@_shared
def check(**given: Any) -> int:
    """Report break sites.

    PATH is a file, a folder (its .py files are read; hidden folders, virtual environments,
    installed packages and build folders in it are not), or - for stdin.
    """
    return _run(given, fix=False, diff=False)


@group.command(epilog=EPILOG)
@click.option("--diff", is_flag=True, help="Show the changes on stdout; write nothing.")
@_shared
def fix(diff: bool, **given: Any) -> int:
    """Mend break sites in place, and report those that are left.

    PATH is a file, a folder (its .py files are mended; hidden folders, virtual environments,
    installed packages and build folders in it are not), or - to filter stdin to stdout.
    """
    return _run(given, fix=True, diff=diff)


@group.command()
@click.argument("code", required=False)
def explain(code: str | None) -> int:
    """Explain a rule, or list them.

    Prints what rule CODE (or its name) finds, promises, assumes and refuses; for a prefix such as
    GM3, or without CODE, a list of rules.
    """
    from graphmend import catalogue

    listed = [rule for rule in catalogue.rules() if rule.code.startswith((code or "").upper())]
    if len(listed) > 1:
        lines = [f"{rule.code}  {rule.name:<26} {rule.summary}" for rule in listed]
        Console().data("\n".join(lines))
        return 0
    try:
        text = catalogue.find(code or "").text()
    except catalogue.UnknownRule as error:
        raise click.UsageError(str(error)) from error
    Console().data(text.rstrip())
    return 0


# What follows the program's name is the program's, whatever it looks like.
@group.command("run", context_settings={"allow_interspersed_args": False})
@click.option("-m", "module", is_flag=True, help="PROGRAM is a module, as in python -m.")
@click.option(
    "--packages",
    multiple=True,
    metavar="NAMES",
    help="Also mend these packages as they are imported, comma separated.",
)
@click.option("--unsafe", is_flag=True, help="Include fixes that rest on an assumption.")
@_what_fixes_become
@click.argument("program")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run_command(
    module: bool,
    packages: tuple[str, ...],
    program: str,
    arguments: tuple[str, ...],
    **wanted: Any,
) -> int:
    """Run a Python program, mended as it loads; no file is changed.

    What PROGRAM imports is mended only where --packages names it. GRAPHMEND_DISABLE=1 runs all as
    it is.
    """
    from graphmend.hook.run import run_program

    names = [name.strip() for value in packages for name in value.split(",") if name.strip()]
    try:
        return run_program(program, arguments, module=module, packages=names, **wanted)
    except ValueError as error:  # the program's own errors do not come out of run_program
        raise click.BadParameter(str(error), param_hint="--packages") from error


group.add_command(_what_fixes_become(verify))
group.add_command(selftest)


def _run(given: dict[str, Any], fix: bool, diff: bool) -> int:
    from graphmend.cli.run import STDIN, Run

    paths: tuple[str, ...] = given["paths"]
    as_json: bool = given["form"] == "json"
    if diff and as_json:
        raise click.UsageError("--diff is text: it cannot be combined with --format json")
    if STDIN in paths and len(paths) > 1:
        raise click.UsageError("- (stdin) cannot be combined with other paths")
    if given["stdin_filename"] is not None and paths != (STDIN,):
        raise click.UsageError("--stdin-filename needs - as the path")
    options = Options(
        fix=fix,
        diff=diff,
        unsafe=given["unsafe"],
        generated=given["generated"],
        plain=given["plain"],
        trap=given["trap"],
        select=_selected(given["select"], given["ignore"]),
        cache=not given["no_cache"],
    )
    run = Run(options, Console(given["quiet"]), as_json=as_json, exit_zero=given["exit_zero"])
    if paths == (STDIN,):
        return run.over_stdin(given["stdin_filename"])
    return run.over_paths(paths, given["jobs"])


def _selected(select: tuple[str, ...], ignore: tuple[str, ...]) -> tuple[str, ...] | None:
    if not select and not ignore:
        return None
    from graphmend import catalogue
    from graphmend.cli import selection

    try:
        return selection.selected(selection.split(select), selection.split(ignore))
    except catalogue.UnknownRule as error:
        raise click.UsageError(str(error)) from error
