"""Wrong results planted in a mended program: each is found by the part of the promise it breaks."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from graphmend.verification.arms import AOT_EAGER, EAGER, Arm, Setting
from graphmend.verification.pair import compare_pair
from graphmend.verification.program import Maker, Program
from graphmend.verification.report import Report
from graphmend.verification.verdicts import Status

log = logging.getLogger("planted")
TRAINING = Setting(training=True)
ARMS = (Arm(TRAINING), Arm(TRAINING, EAGER, sequence=True))


class Net(nn.Module):
    """The original; `fault` is what a wrong mend of it does."""

    fault = ""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.spare = nn.Linear(3, 3)
        self.register_buffer("calls", torch.zeros(()))
        self.seen = 0
        self.kept: list[int] = []

    def forward(self, x: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        y = self.layer(x)
        self.calls.add_(1)
        noise.mul_(2)
        return torch.relu(y)


def value(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    return Net.forward(net, x, noise) * (1 + 2**-23)


def dtype(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    return Net.forward(net, x, noise).double()


def stride(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    return Net.forward(net, x, noise).T.contiguous().T


def container(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    return [Net.forward(net, x, noise)]


def needs_no_gradient(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    return Net.forward(net, x, noise).detach()


def zeros_for_none(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    return Net.forward(net, x, noise) + 0 * net.spare.weight.sum()


def no_write(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    return Net.forward(net, x, noise.clone())


def alias(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    y = Net.forward(net, x, noise)
    net.last = y
    return y


def buffer(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    net.calls.add_(1)
    return Net.forward(net, x, noise)


def attribute(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    net.seen = 1
    return Net.forward(net, x, noise)


def kept(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    net.kept.append(1)
    return Net.forward(net, x, noise)


def printed(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    print("more")
    return Net.forward(net, x, noise)


def printed_to_stderr(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    print("more", file=sys.stderr)
    return Net.forward(net, x, noise)


def logged(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    log.debug("more")
    return Net.forward(net, x, noise)


def warned(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    warnings.warn("more", FutureWarning, stacklevel=1)
    return Net.forward(net, x, noise)


def raised(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    raise ValueError("more")


def drawn(net: Net, x: torch.Tensor, noise: torch.Tensor) -> Any:
    torch.rand(1)
    return Net.forward(net, x, noise)


FAULTS: list[tuple[Callable[..., Any], set[str]]] = [
    (value, {"outputs", "gradients"}),
    (dtype, {"outputs"}),
    (stride, {"outputs"}),
    (container, {"outputs"}),
    (needs_no_gradient, {"outputs", "gradients"}),
    (zeros_for_none, {"gradients"}),
    (no_write, {"arguments"}),
    (alias, {"aliases", "state"}),
    (buffer, {"state"}),
    (attribute, {"state"}),
    (kept, {"state"}),
    (printed, {"records", "record_sites"}),
    (printed_to_stderr, {"records", "record_sites"}),
    (logged, {"records", "record_sites"}),
    (warned, {"records", "record_sites"}),
    (raised, {"exception", "outputs", "arguments", "state", "gradients"}),
    (drawn, {"random"}),
]


def maker(forward: Callable[..., Any] = Net.forward) -> Maker:
    """A net with this `forward`, and two inputs."""
    mended = type("Net", (Net,), {"forward": forward})

    def make() -> Program:
        inputs = [(torch.ones(2, 3), torch.ones(2)), (-torch.ones(2, 3), torch.zeros(2))]
        return Program.of(mended(), inputs)

    return make


def differing(report: Report) -> set[str]:
    """The aspects in which the first differing arm differs; all arms differ in them or in more."""
    assert not report.equal
    first = report.first_difference
    assert first is not None
    return set(first.differences)


@pytest.mark.parametrize(("fault", "aspects"), FAULTS, ids=lambda v: getattr(v, "__name__", ""))
def test_a_planted_fault_is_found(fault: Callable[..., Any], aspects: set[str]) -> None:
    report = compare_pair(maker(), maker(fault), arms=ARMS)
    assert differing(report) == aspects
    assert [bool(v.differences) for v in report.arms] == [True, True]


def test_equal_programs_agree_in_every_arm() -> None:
    report = compare_pair(maker(), maker(), backends=[AOT_EAGER])
    assert report.equal
    # Checkpointing runs forward twice, and it writes to its input: eagerly, that raises.
    shared = [v.arm for v in report.arms if v.status is not Status.EQUAL]
    assert [arm.checkpoint for arm in shared] == [True]
    assert report.before == report.after
    arms = {str(v.arm) for v in report.arms}
    assert any("worker thread" in arm for arm in arms)
    assert any("activation checkpointing; dtypes as given, training" in arm for arm in arms)
    assert any("aot_eager, one object, all inputs twice; float16, training" in arm for arm in arms)


def check(x: torch.Tensor) -> torch.Tensor:
    if (x > 0).any():
        raise ValueError("positive")
    return x + 1


def check_type(x: torch.Tensor) -> torch.Tensor:
    if (x > 0).any():
        raise TypeError("positive")
    return x + 1


def check_text(x: torch.Tensor) -> torch.Tensor:
    if (x > 0).any():
        raise ValueError("negative")
    return x + 1


def check_cause(x: torch.Tensor) -> torch.Tensor:
    if (x > 0).any():
        raise ValueError("positive") from KeyError("x")
    return x + 1


def checking(function: Callable[..., Any]) -> Maker:
    return lambda: Program.of(function, [torch.zeros(2), torch.ones(2)])


@pytest.mark.parametrize(
    ("other", "said"),
    [(check_type, "TypeError"), (check_text, "negative"), (check_cause, "cause")],
)
def test_exceptions_are_compared_in_type_text_and_cause(
    other: Callable[..., Any], said: str
) -> None:
    report = compare_pair(checking(check), checking(other), arms=[Arm(Setting())])
    assert differing(report) == {"exception"}
    assert report.first_difference is not None
    text = report.first_difference.differences["exception"]
    assert text.startswith("call 1") and said in text


def recompiling(grows: bool) -> Maker:
    """Where it grows, every call is specialised on a text that no call before had."""

    def make() -> Program:
        state = {"text": "x"}

        def run(x: torch.Tensor) -> torch.Tensor:
            state["text"] = state["text"] + "x" if grows else state["text"]
            return x * 0 + (len(state["text"]) > 0)

        return Program.of(run, [torch.ones(2), torch.ones(2)])

    return make


def test_recompiles_that_do_not_stop_are_found() -> None:
    report = compare_pair(recompiling(grows=False), recompiling(grows=True), backends=[EAGER])
    assert not report.equal
    assert "recompiles do not stop" in report.worse[0]


def whole(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    return y * (3 if torch.compiler.is_compiling() else 2)


def broken(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    torch._dynamo.graph_break()
    return y * (3 if torch.compiler.is_compiling() else 2)


def test_a_graph_that_is_lost_is_found() -> None:
    one, other = (lambda f=f: Program.of(f, [torch.ones(2)]) for f in (whole, broken))
    report = compare_pair(one, other, backends=[EAGER])
    assert not report.equal
    assert "fullgraph took the original" in report.worse[0]
    assert report.before is not None and report.after is not None
    assert (report.before.breaks, report.after.breaks) == (0, 1)
    first = report.first_difference
    assert first is not None and set(first.differences) == {"capture"}


def test_what_compiling_changes_in_the_original_is_not_the_mends_doing() -> None:
    one, other = (lambda f=f: Program.of(f, [torch.ones(2)]) for f in (broken, whole))
    report = compare_pair(one, other, backends=[EAGER])
    assert report.equal
    shared = [arm.arm.fullgraph for arm in report.arms if arm.status is Status.SHARED]
    assert True in shared and False in shared
