"""The tables of operator facts against trials: what an operator did, and they do not say."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import torch

from eval.operator_samples import plain_samples, samples
from eval.operator_trial import Sample, Seen, observe
from eval.operators import DATA, NAMESPACES
from graphmend.analyses.operators import OperatorFacts, facts
from graphmend.verification.apart import apart
from graphmend.verification.verdicts import Failure

# These wait, end the process, or reach out of it.
NOT_TRIED = frozenset({"torch.from_file", "torch.save", "torch.load", "torch.Tensor.cuda"})

# How many operators share a process; one is made for each where one of them ends it.
_TOGETHER = 25


@dataclass(slots=True)
class Checked:
    """One operator. `wrong` says by fact what it did against the table, `calls` how many calls
    worked, `shown` which facts of the table were seen, `error` why no call worked."""

    name: str
    calls: int = 0
    wrong: dict[str, str] = field(default_factory=dict)
    shown: set[str] = field(default_factory=set)
    error: str = ""


def names() -> list[str]:
    """The operators of the tables that are functions or attributes of tensors."""
    listed = json.loads((DATA / "operators.json").read_text(encoding="utf-8"))["operators"]
    return [n for n in listed if n.rpartition(".")[0] in NAMESPACES and n not in NOT_TRIED]


def check_all(chosen: Sequence[str], each: int, vary_all: bool = True) -> Iterator[Checked]:
    """Try operators in processes of their own: data can end them.

    Unless `vary_all`, data is replaced only where the table says that none makes the call fail.
    """
    for start in range(0, len(chosen), _TOGETHER):
        names = chosen[start : start + _TOGETHER]
        found = apart(lambda names=names: [_check(name, each, vary_all) for name in names])
        if isinstance(found, Failure):
            yield from (_check_alone(name, each, vary_all) for name in names)
        else:
            yield from found


def _check_alone(name: str, each: int, vary_all: bool) -> Checked:
    found = apart(lambda: _check(name, each, vary_all))
    if not isinstance(found, Failure):
        return found
    known = facts(name)
    wrong = {} if known is None or known.raises_on_data else {"fails": found.message}
    return Checked(name, wrong=wrong, error=found.message)


def _check(name: str, each: int, vary_all: bool) -> Checked:
    torch.set_num_threads(1)
    known, result = facts(name), Checked(name)
    assert known is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _try(known, samples(name, each, known.attribute), vary_all, result)
        if not result.calls:
            _try(known, plain_samples(name, known.attribute), vary_all, result)
    return result


def _try(known: OperatorFacts, calls: Iterable[Sample], vary_all: bool, result: Checked) -> None:
    for sample in calls:
        claimed = known.given(_meant(known, sample))
        seen = observe(sample, vary_all or not claimed.raises_on_data)
        if seen.works:
            result.calls += 1
            _compare(claimed, sample, seen, result)
        else:
            result.error = result.error or seen.error


def _compare(claimed: OperatorFacts, sample: Sample, seen: Seen, result: Checked) -> None:
    for fact, did, said in (
        ("writes", _positions(claimed, seen.writes), claimed.writes),
        ("aliases", _positions(claimed, seen.aliases), claimed.aliases),
    ):
        result.shown |= {fact} if did else set()
        if did - said:
            result.wrong.setdefault(fact, f"argument {min(did - said)} of {_shown(sample)}")
    for fact, shown, claim in (
        ("random", seen.random, claimed.random),
        ("fails", bool(seen.fails), claimed.raises_on_data),
        ("settings", seen.settings, claimed.impure),
    ):
        result.shown |= {fact} if shown else set()
        if shown and not claim:
            why = f"{seen.fails}, " if fact == "fails" else ""
            result.wrong.setdefault(fact, f"{why}{_shown(sample)}")


def _parameter(known: OperatorFacts, key: int | str) -> str:
    if isinstance(key, str):
        return key
    return known.params[key] if key < len(known.params) else f"#{key}"


def _positions(known: OperatorFacts, keys: set[int | str]) -> set[int]:
    """The positions of arguments; what the table has no parameter for counts as the last."""
    places = {name: i for i, name in enumerate(known.params)}
    return {k if isinstance(k, int) else places.get(k, len(places)) for k in keys}


def _meant(known: OperatorFacts, sample: Sample) -> set[str]:
    """The parameters given to a purpose, as the analysis of a call has them."""
    meant: set[str] = set()
    for key, value in sample.given().items():
        if value is None or value is False:
            continue
        name = _parameter(known, key)
        if isinstance(value, str | int | float):
            meant.add(f"{name}={value}")
        meant.add("other" if name == "dim" and isinstance(value, torch.Tensor) else name)
    return meant


def _shown(sample: Sample) -> str:
    parts = [
        f"{_form(v)}" if isinstance(k, int) else f"{k}={_form(v)}"
        for k, v in sample.given().items()
    ]
    return f"({', '.join(parts)})"[:100]


def _form(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return repr(value)
