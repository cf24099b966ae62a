"""`python -m eval.demo`: mend a real model through the import hook and show what that does."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

from corpus.registry import recipe
from eval.job import Arm, Job, Task, WorkerError, run_job
from graphmend.verification.agreement import compare

MODEL = "t5"
PACKAGE = "transformers.models.t5"


def main() -> int:
    """Run the demo; 0 where no break is left and everything stayed equal."""
    began = time.monotonic()
    print(f"{MODEL} from the installed transformers, a small configuration, seeded weights;")
    print(f'then the same after `graphmend.install(["{PACKAGE}"])`.\n')
    with tempfile.TemporaryDirectory(prefix="graphmend-demo-") as scratch:
        try:
            reference = _run("original", "eager", Path(scratch))
            before = _run("original", "count", Path(scratch))["counts"]
            mended = _run("mended", "compiled", Path(scratch))
            after = _run("mended", "count", Path(scratch))["counts"]
        except WorkerError as error:
            print(f"a process of the demo failed: {error}", file=sys.stderr)
            return 2
    _show_counts("Before", before)
    _show_diffs(before["sites"])
    _show_counts("After", after)
    equal = _show_agreement(reference["calls"], mended["calls"])
    print(f"\nDone in {time.monotonic() - began:.0f} s. No installed file was changed.")
    return 0 if equal and after["breaks"] == 0 else 1


def _run(arm: Arm, task: Task, folder: Path) -> dict[str, Any]:
    """One arm in a process of its own; all arms share the weights that the first one saves."""
    print(f"  running {MODEL}: {arm}, {task} ..", file=sys.stderr, flush=True)
    name = f"{arm}-{task}"
    job = Job(
        builder=recipe(MODEL).builder,
        packages=(PACKAGE,),
        arm=arm,
        task=task,
        weights=str(folder / "weights.pt"),
        tensors=str(folder / f"{name}.tensors.pt"),
        result=str(folder / f"{name}.result.json"),
    )
    return run_job(job, folder)


def _show_counts(when: str, counts: dict[str, Any]) -> None:
    whole = "passes" if counts["fullgraph"] else "fails"
    print(
        f"\n== {when}: graph breaks {counts['breaks']}, graphs {counts['graphs']}, "
        f"fullgraph=True {whole}"
    )
    for site in counts["sites"]:
        print(f"   {site['path']}:{site['line']}  {site['text']}")


def _show_diffs(sites: list[dict[str, Any]]) -> None:
    print("\n== What graphmend makes of the files that hold these lines (graphmend fix --diff)\n")
    installed = Path(sysconfig.get_paths()["purelib"])
    for path in sorted({site["path"] for site in sites}):
        command = [sys.executable, "-m", "graphmend", "fix", "--diff", "--quiet", path]
        shown = subprocess.run(command, cwd=installed, text=True, stdout=subprocess.PIPE)
        print(shown.stdout)


def _show_agreement(reference: list[dict[str, Any]], mended: list[dict[str, Any]]) -> bool:
    """Print what the mended, compiled model shares with the original run eagerly."""
    verdicts = compare(reference, mended, None)
    for what, names in (
        (
            "Equal to the original run eagerly, call after call",
            [k for k, v in verdicts.items() if v.ok],
        ),
        ("Not equal", [k for k, v in verdicts.items() if not v.ok]),
    ):
        if names:
            print(f"   {what}: {', '.join(names)}.")
    return all(verdict.ok for verdict in verdicts.values())


if __name__ == "__main__":
    sys.exit(main())
