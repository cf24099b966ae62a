"""What a selftest found, as a table or as one JSON document."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from itertools import groupby

import torch

from graphmend.catalogue import Rule
from graphmend.selftest.run import Outcome
from graphmend.selftest.trial import Trial
from graphmend.version import __version__

_HEADER = ("code", "pattern", "cases as written", "captured by torch", "mended to one graph")
_OFF = (
    "Mended code runs in place here: it does what the original does, and breaks the graph where"
    " the original does."
)


def table(outcome: Outcome) -> str:
    """A line a rule, then every case that is not as promised."""
    rows = [_HEADER, *(_row(rule, trials) for rule, trials in _by_rule(outcome))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        f"graphmend {__version__}, torch {torch.__version__}, Python {platform.python_version()}",
        f"runtime {outcome.runtime.text}",
        *([] if outcome.runtime.works else [_OFF]),
        "",
        *(_aligned(row, widths) for row in rows),
        "",
    ]
    wrong = [f"{t.case.rule.code} {t.case.name}: {_problem(t)}" for t in outcome.trials if not t.ok]
    return "\n".join([*lines, *(wrong or ["every case is as promised"])])


def _by_rule(outcome: Outcome) -> list[tuple[Rule, list[Trial]]]:
    grouped = groupby(outcome.trials, key=lambda trial: trial.case.rule.code)
    return [(group[0].case.rule, group) for group in (list(trials) for _, trials in grouped)]


def _row(rule: Rule, trials: Sequence[Trial]) -> tuple[str, ...]:
    with_sites = [trial for trial in trials if trial.case.expected]
    return (
        rule.code,
        rule.name,
        _share([not trial.unlike for trial in trials]),
        _share([trial.captured for trial in with_sites if trial.captured is not None]),
        _share([trial.whole for trial in trials if trial.whole is not None]),
    )


def _share(flags: Sequence[bool]) -> str:
    return f"{sum(flags)} of {len(flags)}" if flags else "-"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def _problem(trial: Trial) -> str:
    breaks = f"the graph breaks: {trial.gap}" if trial.whole is False else None
    return "; ".join(filter(None, (trial.unlike, trial.difference, breaks)))


def document(outcome: Outcome) -> str:
    """Everything, case by case."""
    content = {
        "version": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "runtime": {"works": outcome.runtime.works, "detail": outcome.runtime.text},
        "ok": outcome.ok,
        "cases": [_entry(trial) for trial in outcome.trials],
    }
    return json.dumps(content, indent=2)


def _entry(trial: Trial) -> dict[str, object]:
    return {
        "code": trial.case.rule.code,
        "pattern": trial.case.rule.name,
        "case": trial.case.name,
        "ok": trial.ok,
        "as_written": not trial.unlike,
        "captured_by_torch": trial.captured,
        "mended_to_one_graph": trial.whole,
        "problem": _problem(trial) or None,
    }
