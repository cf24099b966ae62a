"""One arm of one row in this process: `python -m eval.worker JOB`, JOB as `eval.job.Job` writes it.

The import hook is installed before torch and the measured packages are imported, so nothing here
imports them at the top.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.code import code_digests
from eval.job import Job

if TYPE_CHECKING:
    import torch

    from corpus.recipe import Case


def run(job: Job) -> dict[str, Any]:
    """Do a job in this process; returns the result as JSON-able data."""
    mend_error = install(job.packages) if job.arm == "mended" else None
    from corpus.recipe import build

    case = build(job.builder)
    result: dict[str, Any] = {"mend_error": mend_error, "code": code_digests(job.packages)}
    _share_weights(job, case.model)
    if job.task == "count":
        from eval.measure import count

        result["counts"] = count(case)
    else:
        result["initial"] = _initial(case)
        result["calls"] = _calls(job, case)
    if job.arm == "mended":
        result["hook"] = hook_status()
    return result


def install(packages: tuple[str, ...]) -> str | None:
    """Install the import hook; what went wrong, or None. The row is then inert, not lost."""
    try:
        import graphmend

        graphmend.install(packages)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def hook_status() -> dict[str, Any]:
    """What the hook itself says that it did."""
    import graphmend
    from eval.sites import relative

    status = graphmend.status()
    return {
        "mended": {m: [f"{f.code} {f.line}" for f in found] for m, found in status.mended.items()},
        "refused": [
            {"path": relative(f.path), "line": f.line, "code": f.code, "reason": f.reason}
            for found in status.refused.values()
            for f in found
        ],
        "skipped": dict(status.skipped),
        "failed": dict(status.failed),
        "deferral": str(status.deferral),
    }


def _share_weights(job: Job, model: torch.nn.Module) -> None:
    """Save the weights in the first process of a row; every other one loads them strictly."""
    import torch

    weights = Path(job.weights)
    if weights.exists():
        model.load_state_dict(torch.load(weights), strict=True)
    else:
        torch.save(model.state_dict(), weights)


def _initial(case: Case) -> dict[str, str]:
    from graphmend.verification.fingerprint import model_state

    return model_state(case.model)


def _calls(job: Job, case: Case) -> list[dict[str, Any]]:
    import torch

    from graphmend.verification.fingerprint import leaves
    from graphmend.verification.observe import observe

    call = torch.compile(case.model, backend="aot_eager") if job.task == "compiled" else case.model
    seen, tensors = [], []
    for arguments in case.calls:
        with torch.no_grad():
            observation, value = observe(call, (), arguments, case.model)
        seen.append(observation.to_json())
        tensors.append({p: v for p, v in leaves(value) if isinstance(v, torch.Tensor)})
    torch.save(tensors, job.tensors)
    return seen


def main() -> None:
    """Run the job file named on the command line and write its result."""
    job = Job.load(Path(sys.argv[1]))
    Path(job.result).write_text(json.dumps(run(job)))


if __name__ == "__main__":
    main()
