"""Many files: in this process, or spread over several."""

from __future__ import annotations

import functools
import gc
import os
from collections.abc import Iterator, Sequence

from graphmend import session
from graphmend.cli.options import Options
from graphmend.cli.worker import process
from graphmend.collector import paused
from graphmend.report.outcome import Outcome


def outcomes(paths: Sequence[str], options: Options, jobs: int | None) -> Iterator[Outcome]:
    """The outcome of every path, in the order of the paths.

    `jobs` is the number of processes; None means one a CPU. A single file is done in this process.
    """
    workers = min(jobs or os.cpu_count() or 1, len(paths))
    if workers > 1:
        yield from _spread(paths, options, workers)
        return
    shared = session.Session()
    with paused():
        for path in paths:
            yield _process(path, options, shared)


def _process(path: str, options: Options, shared: session.Session) -> Outcome:
    """Do one file. Nothing is written meanwhile, so the files can share what is worked out."""
    with session.use(shared):
        return process(path, options)


@functools.cache
def _of_this_process() -> session.Session:
    return session.Session()


def _process_in_worker(path: str, options: Options) -> Outcome:
    return _process(path, options, _of_this_process())


def _spread(paths: Sequence[str], options: Options, workers: int) -> Iterator[Outcome]:
    from concurrent.futures import ProcessPoolExecutor  # not needed for one file
    from concurrent.futures.process import BrokenProcessPool

    done = 0
    # Small chunks: files differ in size by far more than a chunk costs to send.
    chunk = max(1, min(16, len(paths) // (workers * 8)))
    # As `paused` does for one process: a worker lives no longer than the run.
    with ProcessPoolExecutor(workers, initializer=gc.disable) as pool:
        work = functools.partial(_process_in_worker, options=options)
        try:
            for outcome in pool.map(work, paths, chunksize=chunk):
                yield outcome
                done += 1
        except BrokenProcessPool:
            for path in paths[done:]:
                yield Outcome(path, error="not done: a worker process died (out of memory?)")
