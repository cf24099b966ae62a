"""One row of the zoo: an architecture in both arms, variant by variant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from eval.refusals import mend_of, with_refusals
from eval.zoo.jobs import Arm, Job, Task
from eval.zoo.worker import breaks
from graphmend.verification.agreement import compare

Json = dict[str, Any]


def measure(
    library: str,
    name: str,
    variants: tuple[str, ...],
    folder: Path,
    arms: Mapping[Arm, Callable[[Job], Json]],
) -> Json:
    """Measure an architecture, with scratch files in `folder`; `arms` run a job each in a process.

    The mended arm is run for the variants in which something breaks. What goes wrong is part of
    the row.
    """
    folder.mkdir(parents=True, exist_ok=True)

    def run(arm: Arm, task: Task, chosen: tuple[str, ...]) -> Json:
        return arms[arm](Job(library, name, arm, task, chosen, str(folder)))

    found = run("original", "search", variants)
    return {
        "name": name,
        "variants": {v: _variant(v, _of(found, v), run) for v in variants},
    }


def _variant(variant: str, found: Json, run: Callable[[Arm, Task, tuple[str, ...]], Json]) -> Json:
    """A variant, measured in both arms where something breaks."""
    if "error" in found:
        return {"error": found["error"], "seconds": {"search": found.get("seconds", 0)}}
    arm = run("original", "measure", (variant,))
    original = _of(arm, variant)
    if "error" in original:
        return {"error": original["error"], "seconds": {"search": found["seconds"]}}
    row = {
        **{key: found[key] for key in ("class", "built")},
        "before": original["counts"],
        "after": None,
        "agreement": {},
        "same_start": None,
        "mend": None,
        "mended_error": None,
        "raises": original["eager"][0]["exception"],
        "seconds": {"search": found["seconds"], "original": original["seconds"]},
    }
    if not breaks(original["counts"]):
        return row
    return {**row, **_mended(variant, arm, run("mended", "measure", (variant,)), row["seconds"])}


def _mended(variant: str, original_arm: Json, mended_arm: Json, seconds: Json) -> Json:
    """What the mended arm adds to a row."""
    original, mended = _of(original_arm, variant), _of(mended_arm, variant)
    mend = mend_of(original_arm, mended_arm)
    if "error" in mended:
        return {"mended_error": mended["error"], "mend": mend}
    verdicts = {
        "mended eager": _verdicts(original["eager"], mended["eager"], None),
        "mended compiled": _verdicts(original["eager"], mended["compiled"], original["compiled"]),
    }
    return {
        "after": with_refusals(mended["counts"], mended_arm.get("hook")),
        "agreement": verdicts,
        "same_start": original["initial"] == mended["initial"],
        "mend": mend,
        "seconds": {**seconds, "mended": mended["seconds"]},
    }


def _of(result: Json, variant: str) -> Json:
    """A variant in a job's result; where it is missing, or the job died after it, an error."""
    one: Json = result["variants"].get(variant, {"error": result["failure"] or "not reached"})
    return one


def _verdicts(reference: list[Json], measured: list[Json], known: list[Json] | None) -> Json:
    verdicts = compare(reference, measured, known)
    return {aspect: verdict.to_json() for aspect, verdict in verdicts.items()}
