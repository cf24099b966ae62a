"""Many files: in this process, or spread over several."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence

from graphmend.cli.options import Options
from graphmend.cli.worker import process
from graphmend.report.outcome import Outcome


def outcomes(paths: Sequence[str], options: Options, jobs: int | None) -> Iterator[Outcome]:
    """The outcome of every path, in the order of the paths.

    `jobs` is the number of processes; None means one a CPU. A single file is done in this process.
    """
    workers = min(jobs or os.cpu_count() or 1, len(paths))
    if workers > 1:
        yield from _spread(paths, options, workers)
    else:
        for path in paths:
            yield process(path, options)


def _spread(paths: Sequence[str], options: Options, workers: int) -> Iterator[Outcome]:
    from concurrent.futures import ProcessPoolExecutor  # not needed for one file
    from concurrent.futures.process import BrokenProcessPool

    done = 0
    # Small chunks: files differ in size by far more than a chunk costs to send.
    chunk = max(1, min(16, len(paths) // (workers * 8)))
    with ProcessPoolExecutor(workers) as pool:
        work = functools.partial(process, options=options)
        try:
            for outcome in pool.map(work, paths, chunksize=chunk):
                yield outcome
                done += 1
        except BrokenProcessPool:
            for path in paths[done:]:
                yield Outcome(path, error="not done: a worker process died (out of memory?)")
