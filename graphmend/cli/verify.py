"""`verify`: a target in, a report and an exit status out."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click

from graphmend.cli.form import form_option
from graphmend.report.console import Console

EQUAL, DIFFERS = 0, 1
_BACKENDS = ("eager", "aot_eager", "inductor")


@click.command(
    epilog="Exit status: 0 no difference, 1 the mended program differs, or compiles worse, 2 the "
    "target cannot be loaded or run, or wrong usage."
)
@click.argument("target", metavar="TARGET")
@click.option(
    "--inputs",
    metavar="NAME",
    help="Function that returns the arguments of each call, module:function or file.py:function.",
)
@click.option(
    "--backend",
    "backends",
    multiple=True,
    type=click.Choice(_BACKENDS),
    default=_BACKENDS[:2],
    show_default=True,
    help="Compile with this backend. May be repeated.",
)
@click.option(
    "--packages",
    multiple=True,
    metavar="NAMES",
    help="Mend these packages, comma separated, and not those that TARGET is made of.",
)
@click.option(
    "--reproduction",
    type=click.Path(file_okay=False),
    default="graphmend-reproduction",
    show_default=True,
    help="Folder for the script that shows a difference.",
)
@form_option("A table and what differs, or one document.")
@click.option("--unsafe", is_flag=True, help="Include fixes that rest on an assumption.")
@click.option("-q", "--quiet", is_flag=True, help="No progress; the report and errors only.")
def verify(
    target: str, backends: tuple[str, ...], packages: tuple[str, ...], form: str, **given: Any
) -> int:
    """Run a program as it is and mended, and compare all that a user could notice.

    TARGET is module:name or file.py:name. It is what is called, with what --inputs returns: each
    input is a tuple of arguments, or a mapping of named ones. Without --inputs it is a function
    without parameters that returns a pair of what is called and the inputs. Needs torch.
    """
    from graphmend.verification.api import TargetError, verify_target

    console = Console(given.pop("quiet"))
    names = [name.strip() for value in packages for name in value.split(",") if name.strip()]
    if os.getcwd() not in sys.path:  # as for python -m
        sys.path.insert(0, os.getcwd())
    try:
        report = verify_target(
            target, backends=backends, packages=names or None, progress=console.note, **given
        )
    except (TargetError, FileExistsError) as error:
        console.error(f"error: {error}")
        return 2
    console.data(json.dumps(report.to_json(), indent=2) if form == "json" else str(report))
    return EQUAL if report.equal else DIFFERS
