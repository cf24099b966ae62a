"""A model and its calls: the first plan that gives all kinds of input, else the one with most."""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from corpus.recipe import seeded
from eval.zoo.search import Found, NotFound, call_error, find_calls
from eval.zoo.shrink import Plan

if TYPE_CHECKING:
    import torch

LIMIT_S = 30.0
_PARAMETERS = 200_000_000
_ALIKE = 9
Make = Callable[[Plan], "torch.nn.Module"]


class CannotBuild(Exception):
    """No plan led to a model that runs; says what each of them led to."""


@dataclass(slots=True)
class Built:
    """A model that runs, with the plan that it was built by."""

    model: torch.nn.Module
    found: Found
    plan: Plan

    def in_half(self) -> Built:
        """The same model and calls in float16. ValueError where it does not run so."""
        import torch

        model = copy.deepcopy(self.model).half()
        calls = [
            {n: v.half() if torch.is_floating_point(v) else v for n, v in call.items()}
            for call in self.found.calls
        ]
        problem = next((e for e in (call_error(model, call) for call in calls) if e), "")
        if problem:
            raise ValueError(f"does not run in float16: {problem}")
        return Built(model, Found(calls, self.found.given, self.found.errors), self.plan)

    def about(self) -> dict[str, Any]:
        """What a row says about it."""
        return {
            "plan": asdict(self.plan),
            "kinds": self.found.given,
            "left_out": self.found.errors,
            "inputs": {name: list(value.shape) for name, value in self.found.calls[0].items()},
            "parameters": sum(p.numel() for p in self.model.parameters()),
        }


def build(make: Make, plans: Iterable[Plan]) -> Built:
    """The best model that is found in LIMIT_S seconds. Raises CannotBuild."""
    deadline = time.process_time() + LIMIT_S
    best: Built | None = None
    errors: list[str] = []
    for plan in plans:
        if errors and (time.process_time() > deadline or _hopeless(errors)):
            break
        try:
            model = model_of(make, plan)
            found = find_calls(model)
        except NotFound as error:
            errors.append(f"{_words(plan)}: does not run: {error}")
        except Exception as error:  # a constructor may raise anything: the next plan may suit it
            errors.append(f"{_words(plan)}: {type(error).__name__}: {_first_line(error)}")
        else:
            if best is None or len(found.given) > len(best.found.given):
                best = Built(model, found, plan)
            if found.whole:
                break
            errors.append(f"{_words(plan)}: {found.errors[0]}")
    if best is None:
        raise CannotBuild("\n".join(errors))
    return best


def model_of(make: Make, plan: Plan) -> torch.nn.Module:
    """The model of a plan, with seeded weights, in eval mode. ValueError where it is too large."""
    import torch

    with torch.device("meta"):
        size = _size_on_meta(make, plan)
    if size > _PARAMETERS:
        raise ValueError(f"{size:,} parameters are too many")
    return seeded(lambda: make(plan)).eval()


def _size_on_meta(make: Make, plan: Plan) -> int:
    """The number of parameters, 0 where the model cannot be built without data."""
    try:
        return sum(p.numel() for p in make(plan).parameters())
    except Exception:
        return 0


def _hopeless(errors: list[str]) -> bool:
    """The last plans all led to the same, whatever the sizes."""
    last = {re.sub(r"\d+", "", error.partition(": ")[2]) for error in errors[-_ALIKE:]}
    return len(errors) >= _ALIKE and len(last) == 1


def _words(plan: Plan) -> str:
    return f"widths/{plan.divisor}, {'fewer heads, ' * plan.heads}layers {plan.layers or 'all'}"


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [""])[0][:200]
