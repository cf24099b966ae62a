"""One program, original and mended, side by side."""

from __future__ import annotations

import itertools
import linecache
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
from torch.utils.checkpoint import checkpoint

from eval.fuzz.programs import Arms, Program
from eval.fuzz.seen import Module, Seen, differences, see
from eval.namesakes import register
from graphmend.api import fix_source
from graphmend.findings import Finding, Status
from graphmend.runtime import deferral_status

Wrap = Callable[[Module], Callable[..., Any]]
_numbers = itertools.count()


@dataclass
class Outcome:
    """What became of a program.

    `whole` says that all calls passed `fullgraph=True`; `torch_differs` that torch.compile alone
    changes what the original does, in the same way; `refused` holds what the runtime said.
    """

    findings: tuple[Finding, ...] = ()
    mended: str = ""
    whole: bool = False
    raised: bool = False
    torch_differs: bool = False
    refused: list[str] = field(default_factory=list)
    difference: str | None = None


def compare(program: Program, folder: Path) -> Outcome:
    """Mend a program, run both sides, and say what differs. `folder` is for their files."""
    number = next(_numbers)
    path = folder / "program.py"
    path.write_text(program.text)
    options: dict[str, Any] = {"trap": program.arms.trap, "plain": program.arms.plain}
    result = fix_source(program.text, str(path), **options)
    outcome = Outcome(result.findings, result.source)
    if result.source == program.text:
        return outcome
    if fix_source(result.source, str(path), **options).source != result.source:
        outcome.difference = "a second fix changes the text"
        return outcome
    original = _Side(program.text, folder / f"original_{number}.py", program.arms)
    mended = _Side(result.source, folder / f"mended_{number}.py", program.arms)
    wanted = original.fresh()
    outcome.raised = any("error" in seen for seen in wanted)
    outcome.difference = _first("eager", wanted, mended.fresh())
    wanted = original.run(_as_it_is)
    outcome.difference = outcome.difference or _first(
        "eager, call after call", wanted, mended.run(_as_it_is)
    )
    if outcome.difference is None:
        _compiled(program.arms, original, mended, wanted, outcome)
    outcome.refused = mended.refusals()
    return outcome


def _compiled(
    arms: Arms, original: _Side, mended: _Side, wanted: list[Seen], outcome: Outcome
) -> None:
    everything = all(finding.status is Status.FIXED for finding in outcome.findings)
    for whole in (True, False) if everything else (False,):
        got = mended.run(_compiler(arms, whole))
        if whole and any("error" in s and _is_of_dynamo(s["error"]) for s in got):
            continue  # the runtime, or torch, breaks there: as the default mode shows it
        outcome.whole = whole
        break
    name = f"compiled by {arms.backend}{', whole' if outcome.whole else ''}"
    if arms.backend == "aot_eager" and not outcome.whole:
        wanted, got = _but_gradients(wanted), _but_gradients(got)
    outcome.difference = _first(name, wanted, got)
    if outcome.difference is None:
        return
    for whole in {outcome.whole, False}:
        known = original.run(_compiler(arms, whole))
        if all(_is_of_torch(*three) for three in zip(wanted, got, known, strict=True)):
            outcome.torch_differs, outcome.difference = True, None


def _but_gradients(calls: list[Seen]) -> list[Seen]:
    """Across a graph break AOTAutograd hands zeros on where there is no gradient."""
    return [{p: t for p, t in seen.items() if not p.startswith("gradient")} for seen in calls]


def _is_of_torch(wanted: Seen, got: Seen, known: Seen) -> bool:
    return all(got.get(path) == known.get(path) for path in differences(wanted, got))


def _is_of_dynamo(error: str) -> bool:
    name = error.partition(":")[0]
    return hasattr(torch._dynamo.exc, name)


def _first(arm: str, wanted: list[Seen], got: list[Seen]) -> str | None:
    for number, (one, other) in enumerate(zip(wanted, got, strict=True)):
        paths = differences(one, other)
        if paths:
            lines = [f"{p}:\n  {one.get(p)}\n  {other.get(p)}" for p in paths]
            return "\n".join([f"{arm}, call {number}:", *lines])
    return None


def _as_it_is(network: Module) -> Callable[..., Any]:
    return network


def _compiler(arms: Arms, whole: bool) -> Wrap:
    def wrap(network: Module) -> Callable[..., Any]:
        torch._dynamo.reset()
        return torch.compile(_entry(network, arms), backend=arms.backend, fullgraph=whole)

    return wrap


def _entry(network: Module, arms: Arms) -> Callable[..., Any]:
    if not arms.checkpoint:
        return network
    return lambda *arguments: checkpoint(network, *arguments, use_reentrant=False)


class _Side:
    """One of the two texts, and how it is run."""

    def __init__(self, text: str, path: Path, arms: Arms) -> None:
        self._text, self._path, self._arms = text, path, arms
        linecache.cache[str(path)] = (len(text), None, text.splitlines(True), str(path))

    def fresh(self) -> list[Seen]:
        """Each input on a network of its own, eagerly."""
        count = len(self._make()[1])
        return [self._calls(_as_it_is, [at])[0] for at in range(count)]

    def run(self, wrap: Wrap) -> list[Seen]:
        """All inputs on one network, as often as the arms say."""
        work = lambda: self._calls(wrap, None)  # noqa: E731
        return _in_thread(work) if self._arms.thread else work()

    def refusals(self) -> list[str]:
        """The reasons why the runtime ran sites of this text in place, one a place."""
        found = deferral_status().refused
        return [reason for (name, _), reason in found.items() if name == str(self._path)]

    def _calls(self, wrap: Wrap, chosen: list[int] | None) -> list[Seen]:
        network, inputs = self._make()
        call = wrap(network)
        if chosen is not None:
            inputs = [inputs[at] for at in chosen]
        rounds = self._arms.rounds if chosen is None else 1
        with torch.set_grad_enabled(self._arms.gradients != "none"):
            return [
                see(call, network, arguments)
                for at in range(rounds)
                for arguments in (inputs if at == 0 else self._make()[1])
            ]

    def _make(self) -> tuple[Module, list[tuple[Any, ...]]]:
        module = types.ModuleType("program")
        module.__file__ = str(self._path)
        register(module)
        exec(compile(self._text, str(self._path), "exec"), vars(module))
        torch.default_generator.manual_seed(0)
        network, inputs = module.make()
        return network.train(self._arms.training), inputs


def _in_thread(work: Callable[[], list[Seen]]) -> list[Seen]:
    result: list[list[Seen]] = []
    thread = threading.Thread(target=lambda: result.append(work()))
    thread.start()
    thread.join()
    return result[0]
