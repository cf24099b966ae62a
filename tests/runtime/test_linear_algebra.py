"""Factorisations that fail on their data, behind a report and on a side of a branch."""

import pytest
import torch

from graphmend.runtime import deferred_effect, select
from tests.runtime.observe import agrees, see


def _branch(predicate, then, otherwise, *values):
    return then(*values) if predicate else otherwise(*values)


@deferred_effect
def _report(value):
    print(value)


FAILING = [
    torch.linalg.inv,
    torch.linalg.cholesky,
    lambda x: torch.linalg.svd(x)[1],
    lambda x: torch.linalg.norm(x, 2) * x,
    lambda x: x.norm("nuc") * x,
    lambda x: torch.histc(x[0], bins=2),
]


@pytest.mark.parametrize("failing", FAILING)
def test_a_side_that_may_fail_is_only_run_when_it_is_taken(failing):
    def program(choose):
        return lambda x: choose(torch.isfinite(x).all(), failing, lambda x: x * 2, x + 1)

    for value in (0.0, 1.0, float("nan")):
        matrix = lambda v=value: (torch.full((2, 2), v) + torch.eye(2),)  # noqa: E731
        torch._dynamo.reset()
        assert see(torch.compile(program(select), backend="eager"), matrix) == see(
            program(_branch), matrix
        )


@pytest.mark.parametrize("failing", FAILING)
def test_a_report_in_front_of_a_failure_appears(failing):
    def program(report):
        def run(x):
            report(x.shape[0])
            return failing(x)

        return run

    for value in (1.0, float("nan")):
        agrees(program(print), program(_report), lambda v=value: (torch.full((2, 2), v),))
