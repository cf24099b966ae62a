"""What one call is seen to do."""

import logging
import warnings

import torch

from graphmend.verification.observe import observe

log = logging.getLogger("observed.module")
closed = logging.getLogger("closed")


class Noisy(torch.nn.Module):
    def __init__(self, fail=False):
        super().__init__()
        self.fail = fail
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        log.warning("width %d", x.shape[0])
        print("sum", x.sum().item())
        warnings.warn("old", FutureWarning, stacklevel=1)
        closed.error("apart")
        logging.getLogger("torch._dynamo").warning("not the program's")
        self.calls.add_(1)
        x.add_(1)
        if self.fail:
            raise KeyError("late")
        return x


def noisy(**options):
    model = Noisy(**options)
    return observe(model, (), {"x": torch.ones(2)}, model)[0]


def test_logs_prints_and_warnings_are_seen_once_in_order(monkeypatch):
    monkeypatch.setattr(closed, "propagate", False)
    monkeypatch.setattr(logging.getLogger("torch._dynamo"), "propagate", True)
    kinds = [(r["kind"], r["name"], r["message"]) for r in noisy().records]
    assert kinds == [
        ("log", "observed.module", "width 2"),
        ("stdout", "", "sum 2.0\n"),
        ("warning", "FutureWarning", "old"),
        ("log", "closed", "apart"),
    ]


def test_every_call_warns_anew():
    assert [r["message"] for r in noisy().records] == [r["message"] for r in noisy().records]


def test_records_say_where_they_were_made():
    sites = [r["site"] for r in noisy().records if r["kind"] != "stdout"]
    assert all(__file__ in site for site in sites)
    assert sites[0].endswith(":forward")


def test_writes_and_exceptions_are_seen():
    seen = noisy(fail=True)
    assert seen.exception == "KeyError: 'late'"
    assert seen.outputs == {"value": "NoneType None"}
    untouched = observe(torch.nn.Identity(), (), {"input": torch.ones(2)}, torch.nn.Identity())[0]
    assert seen.arguments["['x']"] != untouched.arguments["['input']"]
