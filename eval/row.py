"""One row of the table: all arms of one model, each in its own process, and their comparison."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from corpus.recipe import Recipe
from eval.environment import python_for
from eval.job import Arm, Job, Task, WorkerError, run_job
from eval.magnitude import largest_differences
from eval.refusals import mend_of, with_refusals
from graphmend.verification.agreement import compare

Progress = Callable[[str], None]
# The original's eager run comes first: it saves the weights, and nothing was compiled before it.
_ORDER: tuple[tuple[Arm, Task], ...] = (
    ("original", "eager"),
    ("original", "compiled"),
    ("original", "count"),
    ("mended", "eager"),
    ("mended", "compiled"),
    ("mended", "count"),
)
_COMPARED: tuple[tuple[Arm, Task], ...] = (
    ("original", "compiled"),
    ("mended", "eager"),
    ("mended", "compiled"),
)
_OUTPUT_ASPECT = "outputs"


def measure(recipe: Recipe, folder: Path, progress: Progress = lambda text: None) -> dict[str, Any]:
    """Measure one row, with scratch files in `folder`; returns it as JSON-able data.

    A process that fails is reported in the row under `failures`; the row then counts as unequal.
    """
    results: dict[tuple[Arm, Task], dict[str, Any]] = {}
    failures: dict[str, str] = {}
    folder.mkdir(parents=True, exist_ok=True)
    try:
        python = python_for(recipe.requires)
    except RuntimeError as error:
        failures["environment"] = str(error)
    for arm, task in _ORDER if not failures else ():
        progress(f"{recipe.name}: {arm}, {task}")
        try:
            results[arm, task] = run_job(_job(recipe, arm, task, folder), folder, python)
        except WorkerError as error:
            failures[f"{arm} {task}"] = str(error)
    agreement = _agreement(results, folder)
    return {
        **{k: v for k, v in asdict(recipe).items() if k not in ("builder", "packages")},
        "before": results.get(("original", "count"), {}).get("counts"),
        "after": with_refusals(
            results.get(("mended", "count"), {}).get("counts"),
            results.get(("mended", "count"), {}).get("hook"),
        ),
        "mend": _mend(results),
        "agreement": agreement,
        "same_start": _same_start(results),
        "equal": not failures and _all_equal(agreement),
        "failures": failures,
    }


def _job(recipe: Recipe, arm: Arm, task: Task, folder: Path) -> Job:
    return Job(
        builder=recipe.builder,
        packages=recipe.packages,
        arm=arm,
        task=task,
        weights=str(folder / "weights.pt"),
        tensors=str(_tensors(folder, arm, task)),
        result=str(folder / f"{arm}-{task}.result.json"),
    )


def _tensors(folder: Path, arm: Arm, task: Task) -> Path:
    return folder / f"{arm}-{task}.tensors.pt"


def _agreement(
    results: dict[tuple[Arm, Task], dict[str, Any]], folder: Path
) -> dict[str, dict[str, Any]]:
    """Verdicts by arm and aspect, each against the original run eagerly."""
    reference = results.get(("original", "eager"))
    known = results.get(("original", "compiled"))
    if reference is None:
        return {}
    arms: dict[str, dict[str, Any]] = {}
    for arm, task in _COMPARED:
        result = results.get((arm, task))
        if result is None:
            continue
        baseline = known["calls"] if known and (arm, task) == ("mended", "compiled") else None
        verdicts = compare(reference["calls"], result["calls"], baseline)
        arms[f"{arm} {task}"] = {k: v.to_json() for k, v in verdicts.items()}
        if not verdicts[_OUTPUT_ASPECT].equal:
            with contextlib.suppress(OSError):  # an arm that failed early saved no tensors
                arms[f"{arm} {task}"][_OUTPUT_ASPECT]["largest"] = largest_differences(
                    _tensors(folder, "original", "eager"), _tensors(folder, arm, task)
                )
    return arms


def _same_start(results: dict[tuple[Arm, Task], dict[str, Any]]) -> bool:
    """Every compared arm began with the same parameters, buffers and plain attributes."""
    starts = [r["initial"] for (_, task), r in results.items() if task != "count"]
    return all(start == starts[0] for start in starts)


def _all_equal(agreement: dict[str, dict[str, Any]]) -> bool:
    return all(agreement[arm][_OUTPUT_ASPECT]["ok"] for arm in ("mended eager", "mended compiled"))


def _mend(results: dict[tuple[Arm, Task], dict[str, Any]]) -> dict[str, Any]:
    original, mended = results.get(("original", "eager")), results.get(("mended", "eager"))
    if original is None or mended is None:
        return {"inert": None, "modules": [], "error": None, "hook": None}
    return mend_of(original, mended)
