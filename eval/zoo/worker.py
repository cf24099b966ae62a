"""One arm of one architecture, measured in this process.

The import hook is installed before torch and the measured packages are imported, so nothing here
imports them at the top.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.code import code_digests
from eval.worker import hook_status
from eval.zoo.jobs import Job
from eval.zoo.libraries import Library, library

if TYPE_CHECKING:
    import torch

    from eval.zoo.build import Built

Json = dict[str, Any]
Task = Callable[["Job", str], Json]


def run(job: Job, mend_error: str | None) -> None:
    """Do a job, and write the result anew after every variant.

    `mend_error` says what went wrong when the import hook was installed.
    """
    source = library(job.library)
    result: Json = {"mend_error": mend_error, "variants": {}}
    task = _search(source) if job.task == "search" else _measure(source)
    for variant in job.variants:
        began = time.process_time()
        try:
            found = task(job, variant)
        except Exception as error:  # reported in the row: the other variants may well do
            found = {"error": f"{type(error).__name__}: {error}"[:2000]}
        result["variants"][variant] = {**found, "seconds": round(time.process_time() - began, 1)}
        job.result.write_text(json.dumps(result))
    if job.task == "measure":
        result["code"] = code_digests((source.PACKAGE,))
    if job.arm == "mended":
        result["hook"] = hook_status()
    job.result.write_text(json.dumps(result))


def _search(source: Library) -> Task:
    """Find a model and inputs of each variant, and keep how to make them again.

    What is tried may write to the model, or say what is said only once: it is measured elsewhere.
    """
    built: dict[str, Built] = {}

    def search(job: Job, variant: str) -> Json:
        import torch

        from eval.zoo.build import build

        classes = source.classes(job.name)
        cls = classes[-1] if variant == "head" else classes[0]
        if variant == "head" and len(classes) == 1:
            return {"error": "no class with a head"}
        if variant == "float16":
            if "base" not in built:
                return {"error": "not built in float32"}
            one = built["base"].in_half()
        else:
            one = build(
                lambda plan: source.small_model(job.name, cls, plan), source.plans(job.name)
            )
            built[variant] = one
        torch.save({"class": cls, "plan": one.plan, "calls": one.found.calls}, _file(job, variant))
        return {"class": cls, "built": one.about()}

    return search


def _measure(source: Library) -> Task:
    """Make the model again, with the weights of the arm that came first, and measure it."""

    def measure(job: Job, variant: str) -> Json:
        import torch

        from eval.zoo.build import model_of

        saved = torch.load(_file(job, variant), weights_only=False)
        model = model_of(
            lambda plan: source.small_model(job.name, saved["class"], plan), saved["plan"]
        )
        if variant == "float16":
            model = model.half()
        weights = Path(job.folder) / f"{variant}.weights.pt"
        if weights.exists():
            model.load_state_dict(torch.load(weights), strict=True)
        else:
            torch.save(model.state_dict(), weights)
        return _measured(model, saved["calls"], through_aot=job.arm == "mended")

    return measure


def _measured(model: torch.nn.Module, calls: list[Json], through_aot: bool) -> Json:
    from eval.zoo.count import counted, eager_calls
    from graphmend.verification.fingerprint import model_state

    initial = model_state(model)
    eager = eager_calls(model, calls)
    counts, compiled = counted(model, calls, through_aot)
    return {
        "initial": initial,
        "eager": [seen.to_json() for seen in eager],
        "compiled": [seen.to_json() for seen in compiled],
        "counts": counts,
    }


def _file(job: Job, variant: str) -> Path:
    return Path(job.folder) / f"{variant}.pt"


def breaks(counts: Json | None) -> bool:
    """Whether anything keeps the model from being one graph."""
    return counts is not None and not counts["fullgraph"]
