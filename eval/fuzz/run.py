"""`python -m eval fuzz`: many generated programs, mended and compared with themselves."""

from __future__ import annotations

import json
import multiprocessing
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from tqdm import tqdm

from eval.fuzz import batch
from eval.fuzz.compare import compare
from eval.fuzz.files import read
from eval.fuzz.report import markdown
from eval.fuzz.tally import Tally
from eval.machine import describe
from eval.table2 import RESULTS

_RUNS = 10
_APART = 1_000_000
_PROGRAMS = _RUNS * batch.RUN


def run(programs: int, seed: int, workers: int, output: Path | None) -> int:
    """Compare about so many programs; returns the exit code, 1 where one differs.

    Results are written below `output` (`eval/results` by default) after every batch. A run that
    was cut short goes on where it ended, if seed and commit are the same.
    """
    folder = output or RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    about = {"command": f"python -m eval fuzz --programs {programs} --seed {seed}", **describe()}
    del about["transformers"]
    path = folder / "fuzz.json"
    results = _begun(path, about, seed)
    wanted = [n for n in range(-(-programs // _PROGRAMS)) if n not in results["done"]]
    with tqdm(total=len(wanted) * _PROGRAMS, unit="programs") as bar, _pool(workers) as pool:
        jobs = {pool.submit(batch.run_many, _seeds(seed, n)): n for n in wanted}
        try:
            for job in as_completed(jobs):
                _add(results, jobs[job], job.result(), folder)
                _write(path, about, results)
                bar.update(_PROGRAMS)
                bar.set_postfix(differing=len(results["found"]))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
    return 1 if results["found"] else 0


def replay(path: Path) -> int:
    """Compare the program of one file; prints what differs, and returns 1 where something does."""
    with batch.prepared(), tempfile.TemporaryDirectory(prefix="graphmend-fuzz-") as name:
        outcome = compare(read(path.read_text(encoding="utf-8")), Path(name))
    print(outcome.mended)
    print(outcome.difference or "no difference")
    return 1 if outcome.difference else 0


def _pool(workers: int) -> ProcessPoolExecutor:
    # A fresh process a batch: what torch.compile keeps of one is not in the next.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, max_tasks_per_child=1)


def _seeds(seed: int, number: int) -> range:
    first = seed * _APART + number * _RUNS
    return range(first, first + _RUNS)


def _begun(path: Path, about: dict[str, str], seed: int) -> dict[str, Any]:
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        if before["about"]["commit"] == about["commit"] and before["seed"] == seed:
            return {key: before[key] for key in ("seed", "done", "counts", "found")}
    return {"seed": seed, "done": [], "counts": Tally().counts, "found": []}


def _add(results: dict[str, Any], number: int, got: dict[str, Any], folder: Path) -> None:
    results["done"].append(number)
    tally = Tally(results["counts"])
    tally.merge(got["counts"])
    results["counts"] = tally.counts
    for name, text in got["found"]:
        (folder / "fuzz").mkdir(exist_ok=True)
        (folder / "fuzz" / name).write_text(text, encoding="utf-8")
        results["found"].append(name)


def _write(path: Path, about: dict[str, str], results: dict[str, Any]) -> None:
    path.write_text(json.dumps({"about": about, **results}, indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(markdown(about, results), encoding="utf-8")
