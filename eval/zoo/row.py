"""One row of the zoo: an architecture in both arms, variant by variant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from eval.refusals import summary, with_refusals
from eval.zoo.jobs import Arm, Job
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
    original = arms["original"](Job(library, name, "original", variants, str(folder)))
    broken = tuple(v for v, one in original["variants"].items() if breaks(one.get("counts")))
    mended: Json = {"variants": {}, "failure": None}
    if broken:
        mended = arms["mended"](Job(library, name, "mended", broken, str(folder)))
    rows = {}
    for variant in variants:
        one = original["variants"].get(variant, {"error": original["failure"] or "not reached"})
        rows[variant] = _variant(one, mended["variants"].get(variant), mended)
    return {
        "name": name,
        "variants": rows,
        "mend": _mend(original, mended) if broken else None,
        "failures": {
            arm: one["failure"]
            for arm, one in (("original", original), ("mended", mended))
            if one["failure"]
        },
    }


def _variant(one: Json, other: Json | None, mended: Json) -> Json:
    if "error" in one:
        return {"error": one["error"], "seconds": one.get("seconds", 0)}
    found = {
        **{key: one[key] for key in ("class", "built", "seconds")},
        "before": one["counts"],
        "after": None,
        "agreement": {},
        "same_start": None,
        "mended_error": None,
        "raises": one["eager"][0]["exception"],
    }
    if not breaks(one["counts"]):
        return found
    if other is None or "error" in other:
        return {**found, "mended_error": other["error"] if other else mended["failure"]}
    return {
        **found,
        "after": with_refusals(other["counts"], mended.get("hook")),
        "agreement": {
            "mended eager": _verdicts(one["eager"], other["eager"], None),
            "mended compiled": _verdicts(one["eager"], other["compiled"], one["compiled"]),
        },
        "same_start": one["initial"] == other["initial"],
        "seconds_mended": other["seconds"],
    }


def _verdicts(reference: list[Json], measured: list[Json], known: list[Json] | None) -> Json:
    verdicts = compare(reference, measured, known)
    return {aspect: {**asdict(verdict), "ok": verdict.ok} for aspect, verdict in verdicts.items()}


def _mend(original: Json, mended: Json) -> Json:
    """What mending really changed, from the code that ran, and what the hook says about it."""
    before, after = original.get("code", {}), mended.get("code", {})
    changed = sorted(name for name in before.keys() & after.keys() if before[name] != after[name])
    return {
        "inert": not changed,
        "modules": changed,
        "error": mended.get("mend_error"),
        "hook": summary(mended.get("hook")),
    }
