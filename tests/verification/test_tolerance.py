"""Plain Inductor is held to the original compiled alike, within a tolerance."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from graphmend.verification.arms import BACKENDS, INDUCTOR, Setting, Traits, plan
from graphmend.verification.observe import Observation, observe
from graphmend.verification.tolerance import compare_within_tolerance

Function = Callable[[torch.Tensor], torch.Tensor]


def seen(function: Function) -> list[Observation]:
    x = torch.tensor([1.0, 2.0, torch.nan])
    return [observe(function, (x,), {}, function, keep=True)[0]]


def base(x: torch.Tensor) -> torch.Tensor:
    print(f"peak {x[0].item()}")
    return x * 3


def rounded(x: torch.Tensor) -> torch.Tensor:
    print(f"peak {x[0].item() + 1e-7}")
    return x * 3 * (1 + 2**-23)


def far(x: torch.Tensor) -> torch.Tensor:
    return base(x) * 1.001


def wider(x: torch.Tensor) -> torch.Tensor:
    return base(x).double()


def written(x: torch.Tensor) -> torch.Tensor:
    y = base(x)
    x.add_(1)
    return y


def silent(x: torch.Tensor) -> torch.Tensor:
    return x * 3


@pytest.mark.parametrize(
    ("function", "aspects"),
    [
        (rounded, set()),
        (far, {"outputs"}),
        (wider, {"outputs"}),
        (written, {"arguments"}),
        (silent, {"records"}),
    ],
)
def test_values_may_differ_by_rounding_alone(function: Function, aspects: set[str]) -> None:
    verdicts = compare_within_tolerance(seen(base), seen(function))
    assert {name for name, verdict in verdicts.items() if not verdict.ok} == aspects


def test_inductor_is_run_exactly_and_as_it_is() -> None:
    arms = plan(Traits(is_module=True, trains=True, casts=("float16",)), BACKENDS)
    settings = {arm.setting for arm in arms}
    assert len(settings) == 4
    found = {(a.setting, a.exact) for a in arms if a.backend == INDUCTOR}
    assert found == {(setting, exact) for setting in settings for exact in (True, False)}
    assert Setting(no_grad=True) in settings and Setting("float16", training=True) in settings
