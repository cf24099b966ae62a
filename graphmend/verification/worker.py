"""Both sides in this process: `python -m graphmend.verification.worker SPEC RESULT`.

SPEC is a file of `Spec.save`, RESULT the file that both sides go to.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from graphmend.verification.processes import run_sides
from graphmend.verification.references import TargetError
from graphmend.verification.spec import Spec


def main() -> None:
    """Do what the command line says; a TargetError is a result, too."""
    try:
        result: object = run_sides(Spec.load(Path(sys.argv[1])))
    except TargetError as error:
        result = str(error)
    torch.save(result, sys.argv[2])


if __name__ == "__main__":
    main()
