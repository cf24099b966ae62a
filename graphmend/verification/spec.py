"""What is to be verified, and how: one value that all processes of a verification share."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graphmend.verification.arms import AOT_EAGER, EAGER, Arm, Setting


@dataclass(frozen=True, slots=True)
class Spec:
    """The program, and how it is mended and run.

    The program is a `target` that can be loaded by name, with `inputs` by name or of its own, or
    a `saved` pair of a callable and its inputs (a file of torch.save). `main` is the script that
    is `__main__` to it, `path` is `sys.path`. `packages` are the names that are mended, None for
    those that the program is made of. `copies` is a folder that `copies.write` wrote; its two
    sides then stand for original and mended. `arms` are those to run, None for all.
    """

    target: str | None = None
    inputs: str | None = None
    saved: str | None = None
    main: str | None = None
    path: tuple[str, ...] = ()
    packages: tuple[str, ...] | None = None
    unsafe: bool = False
    plain: bool = False
    trap: str = "deferred"
    backends: tuple[str, ...] = (EAGER, AOT_EAGER)
    copies: str | None = None
    arms: tuple[Arm, ...] | None = None

    def save(self, path: Path) -> None:
        """Write as JSON."""
        path.write_text(json.dumps(asdict(self), indent=2), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Spec:
        """Read what `save` wrote."""
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        fields: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in data.items()
        }
        if data["arms"] is not None:
            fields["arms"] = tuple(map(_arm, data["arms"]))
        return cls(**fields)


def _arm(fields: dict[str, Any]) -> Arm:
    return Arm(**{**fields, "setting": Setting(**fields["setting"])})
