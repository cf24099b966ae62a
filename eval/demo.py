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
from eval.row import measure

MODEL = "whisper"


def main() -> int:
    """Run the demo; 0 where no break is left and everything stayed equal."""
    began = time.monotonic()
    print(f"{MODEL}, from the installed transformers: a small configuration, seeded weights.")
    print("The original runs first, then the same model with its modules mended as they load.\n")
    with tempfile.TemporaryDirectory(prefix="graphmend-demo-") as scratch:
        row = measure(recipe(MODEL), Path(scratch), _progress)
    if row["failures"]:
        for process, message in row["failures"].items():
            print(f"{process} failed: {message}", file=sys.stderr)
        return 2
    _show_counts("Before", row["before"])
    _show_diffs(row["before"]["sites"])
    _show_counts("After", row["after"])
    print(_verdict(row["agreement"]["mended compiled"]))
    print(f"\nDone in {time.monotonic() - began:.0f} s. No installed file was changed.")
    return 0 if row["equal"] and row["after"]["breaks"] == 0 else 1


def _progress(step: str) -> None:
    print(f"  running {step} ..", file=sys.stderr, flush=True)


def _show_counts(when: str, counts: dict[str, Any]) -> None:
    whole = "passes" if counts["fullgraph"] else "fails"
    print(
        f"\n== {when}: {counts['breaks']} graph breaks, {counts['graphs']} graphs, "
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


def _verdict(aspects: dict[str, dict[str, Any]]) -> str:
    same = [name for name, aspect in aspects.items() if aspect["ok"]]
    other = [name for name, aspect in aspects.items() if not aspect["ok"]]
    text = f"   Equal to the original, call after call: {', '.join(same)}."
    return f"{text}\n   Not equal: {', '.join(other)}." if other else text


if __name__ == "__main__":
    sys.exit(main())
