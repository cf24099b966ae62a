"""One case: mended as it says, then original and mended run side by side."""

from __future__ import annotations

import importlib.util
import logging
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from graphmend.api import fix_source
from graphmend.cases import Case
from graphmend.verification.agreement import ALL_ASPECTS, compare
from graphmend.verification.observe import Observation, observe

# The name of both programs: loggers and exceptions show it.
_NAME = "graphmend_case"
# Their lines differ, and with them the places of records.
_ASPECTS = {name: aspect for name, aspect in ALL_ASPECTS.items() if name != "record_sites"}

Run = list[Observation]


@dataclass(slots=True)
class Trial:
    """What became of one case.

    `unlike` says where findings or mended text are not those of the case. `captured` is whether
    this torch captures the original as one graph, and `whole` the same of the mended program; None
    where it was not run. `gap` is the reason of the first graph break of the mended program, and
    `difference` where that first behaves unlike the original.
    """

    case: Case
    unlike: str | None = None
    captured: bool | None = None
    whole: bool | None = None
    gap: str | None = None
    difference: str | None = None

    @property
    def ok(self) -> bool:
        """Whether all is as promised."""
        return not self.unlike and not self.difference and self.whole is not False


class Bench:
    """Runs the programs of one case from files in `folder`."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.trial = Trial(case)
        self._folder = folder
        self._reference: Run = []

    def prepare(self) -> None:
        """Mend the text, and take down what the original does before anything is compiled."""
        case = self.trial.case
        path = self._folder / "original.py"
        path.write_text(case.before, encoding="utf-8")
        found = fix_source(case.before, str(path), unsafe=case.unsafe)
        if [(f.code, str(f.status)) for f in found.findings] != [e[:2] for e in case.expected]:
            self.trial.unlike = "other findings than the case says"
        elif found.source != case.after:
            self.trial.unlike = "another text than the case says"
        (self._folder / "mended.py").write_text(found.source, encoding="utf-8")
        if case.runs:
            self._reference = self._run("original", None)

    def run(self, promised: bool) -> None:
        """Compile the original; run the mended program eagerly and compiled.

        Unless deferral is `promised`, what compiling does to the original, it may do to the mended
        program as well.
        """
        trial = self.trial
        if not trial.case.runs or trial.unlike:
            return
        trial.captured = _gap(self._run("original", _whole)) is None
        if not trial.case.changes:
            return
        self._compare("eagerly", self._run("mended", None))
        compiled = self._run("mended", _whole)
        trial.gap = _gap(compiled)
        trial.whole = trial.gap is None
        mode = _whole if trial.whole else _broken
        self._compare(
            "compiled",
            compiled if trial.whole else self._run("mended", mode),
            None if promised else self._run("original", mode),
        )

    def _run(self, program: str, compiler: Callable[[Any], Any] | None) -> Run:
        if compiler is not None:
            torch._dynamo.reset()
        torch.manual_seed(0)
        owner, inputs = _load(self._folder / f"{program}.py").make()
        call = owner if compiler is None else compiler(owner)
        return [
            observe(call, given, {}, owner, gradients=True, level=logging.DEBUG)[0]
            for given in inputs
        ]

    def _compare(self, how: str, measured: Run, known: Run | None = None) -> None:
        shared = None if known is None else _data(known)
        verdicts = compare(_data(self._reference), _data(measured), shared, _ASPECTS)
        for aspect, verdict in verdicts.items():
            if not verdict.ok and self.trial.difference is None:
                self.trial.difference = f"{how}, {aspect}: {verdict.difference}"


def _data(run: Run) -> list[dict[str, Any]]:
    return [call.to_json() for call in run]


def _whole(function: Any) -> Any:
    return torch.compile(function, backend="eager", fullgraph=True)


def _broken(function: Any) -> Any:
    return torch.compile(function, backend="eager")


def _gap(run: Run) -> str | None:
    """Why the program is not one graph."""
    for call in run:
        if not call.captured:
            return (call.exception or "").strip().split("\n", 1)[0]
    return None


def _load(path: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(_NAME, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module
    spec.loader.exec_module(module)
    return module
