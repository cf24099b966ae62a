"""One arm of one architecture as a job for a process of its own."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

Arm = Literal["original", "mended"]
Task = Literal["search", "measure"]
VARIANTS = ("base", "head", "float16")
# Processor time does not depend on what else the machine does; the other is for what hangs.
CPU_LIMIT_S = 120
WALL_LIMIT_S = 900.0


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker is to do; `folder` is for weights, inputs and the result, shared by all jobs.

    First the original is searched for models that run, then each is measured by a job of its own:
    what is said only once in a process must be said in both arms.
    """

    library: str
    name: str
    arm: Arm
    task: Task
    variants: tuple[str, ...]
    folder: str

    @property
    def label(self) -> str:
        """What its files are called."""
        return "-".join([self.arm, self.task, *self.variants])

    @property
    def result(self) -> Path:
        """Where the result is written, anew after every variant."""
        return Path(self.folder) / f"{self.label}.result.json"

    def save(self) -> Path:
        """Write the job into its folder; the file's path."""
        path = Path(self.folder) / f"{self.label}.job.json"
        path.write_text(json.dumps(asdict(self)))
        return path

    @classmethod
    def load(cls, path: Path) -> Job:
        """Read a job that `save` wrote."""
        data = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{**data, "variants": tuple(data["variants"])})
