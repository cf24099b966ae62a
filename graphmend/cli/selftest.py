"""`graphmend selftest`: the catalogue's cases under the user's torch."""

from __future__ import annotations

import importlib.util
import warnings

import click

from graphmend.cli.form import form_option
from graphmend.report.console import Console

EPILOG = (
    "Exit status: 0 all is as promised, 1 a mended case behaves differently or breaks the graph, "
    "or the runtime is off, 2 there is no torch, or wrong usage."
)


@click.command(epilog=EPILOG)
@form_option("A table by rule, or one document with every case.")
def selftest(form: str) -> int:
    """Run the rules' own cases under the installed torch.

    Says for each rule what this torch captures by itself, what graphmend mends, whether that
    behaves as the original, and whether deferral and selection work.
    """
    console = Console()
    if importlib.util.find_spec("torch") is None:
        console.error("error: selftest runs code under torch, which is not installed here")
        return 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the runtime warns of is in the report
        from graphmend.selftest import report
        from graphmend.selftest.run import run

        outcome = run()
    console.data(report.document(outcome) if form == "json" else report.table(outcome))
    return 0 if outcome.ok else 1
