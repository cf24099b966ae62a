"""A small model of an architecture and inputs that it accepts, found by trial."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eval.zoo.facts import Facts
from eval.zoo.inputs import candidates, kinds, wanted
from eval.zoo.placeholders import token_of, watched, with_placeholders
from eval.zoo.values import Maker

if TYPE_CHECKING:
    import torch

Call = dict[str, Any]
CALLS = 2
TRIALS = 60
LIMIT_S = 8.0
_ROUNDS = 3


@dataclass(slots=True)
class Found:
    """The calls of a model, which kinds of input they give, and what was tried in vain before."""

    calls: list[Call]
    given: list[str]
    errors: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """All kinds of input that the model takes are given."""
        return not self.errors


class NotFound(Exception):
    """No inputs were found; says what the likeliest ones led to."""


def find_calls(model: torch.nn.Module) -> Found:
    """Two calls with the same shapes and other values, which the model accepts.

    All kinds of input that the model takes are tried together first, then fewer of them. Raises
    NotFound.
    """
    facts = Facts(model)
    deadline = time.process_time() + LIMIT_S
    errors: list[str] = []
    for given in _sets(kinds(facts)):
        batch = 1 if len(given) > 1 else 2
        failed = ""
        for makers in _combinations(facts, given, batch):
            if time.process_time() > deadline:
                break
            calls, error = _calls(model, facts, makers)
            if not error:
                return Found(calls, given, errors)
            failed = failed or error
        errors.append(f"{'+'.join(given) or 'no inputs'}: {failed or 'no time left'}")
    raise NotFound("; ".join(errors))


def _sets(available: list[str]) -> Iterator[list[str]]:
    """Kinds to give together: all, text with each other one, each one alone."""
    whole = [k for k in available if k != "video" or "image" not in available]
    seen: list[list[str]] = []
    pairs = [["text", k] for k in available if k != "text" and "text" in available]
    for given in [whole, *pairs, *([k] for k in available)]:
        if given not in seen:
            seen.append(given)
            yield given


def _combinations(facts: Facts, given: list[str], batch: int) -> Iterator[dict[str, Maker]]:
    """Values for the parameters together, those first that are likeliest taken all in all."""
    names = wanted(facts, given)
    options = [candidates(name, facts, batch) for name in names]
    ranks = sorted(itertools.product(*(range(len(found)) for found in options)), key=sum)
    for chosen in ranks[:TRIALS]:
        yield {n: found[at] for n, found, at in zip(names, options, chosen, strict=True)}


def _calls(
    model: torch.nn.Module, facts: Facts, makers: dict[str, Maker]
) -> tuple[list[Call], str]:
    """The calls, and why the model does not accept them, empty where it does."""
    rows: dict[str, int] = {}
    error = ""
    for _ in range(_ROUNDS):
        call = _call(makers, 1, rows, facts)
        with watched(model) as found:
            error = call_error(model, call)
        needed = {m: n for m, n in found.items() if token_of(m, facts) is not None}
        if "input_ids" not in makers or needed == rows:
            break
        rows = needed
    if error:
        return [], error
    calls = [_call(makers, seed, rows, facts) for seed in range(1, CALLS + 1)]
    return calls, next((e for e in (call_error(model, call) for call in calls) if e), "")


def _call(makers: dict[str, Maker], seed: int, rows: dict[str, int], facts: Facts) -> Call:
    import torch

    values = {name: make(seed) for name, make in makers.items()}
    call = {name: value for name, value in values.items() if value is not None}
    if rows and "input_ids" in call:
        call["input_ids"], numbers = with_placeholders(call["input_ids"], rows, facts)
        if "attention_mask" in call:
            call["attention_mask"] = torch.ones_like(call["input_ids"])
        if "mm_token_type_ids" in call:
            call["mm_token_type_ids"] = numbers
    return call


def call_error(model: torch.nn.Module, call: Call) -> str:
    """What calling the model raises, in one line; empty where it returns."""
    import copy

    import torch

    try:
        with torch.no_grad():
            model(**copy.deepcopy(call))
    except Exception as error:
        text = (str(error).strip().splitlines() or [""])[0]
        return f"{type(error).__name__}: {text[:200]}"
    return ""
