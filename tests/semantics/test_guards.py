"""T1 to T9: a guard that became a deferred check fails as it did, or it is left where it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.semantics.alike import agree, keeps, mend
from tests.semantics.lines import named
from tests.sides import load

LEGAL = {
    "if, its negation, asserts, torch's own checks (T1, T2)": """
import torch

def entry(x: torch.Tensor, y: torch.Tensor):
    if torch.isnan(x).any():
        raise ValueError(f"nan among {x.shape[0]}", x.dtype)
    if not (x > -5).all():
        raise KeyError("low") from IndexError("cause")
    assert (x < 5).all(), f"high: {x.max().item():.1f}"
    assert (y != 7).all()
    torch._check(bool((y != 3).all()), lambda: f"three in {y.tolist()}")
    torch._check_value(bool((y != 4).all()))
    torch._check_index(bool((y != 5).all()), lambda: "five")
    return x * y

def make():
    x, y = torch.ones(2), torch.ones(2)
    bad = [(x * float("nan"), y), (x * -9, y), (x * 9, y)]
    return entry, [(x, y), *bad, *[(x, y * v) for v in (7, 3, 4, 5)], (x * 9, y * 7)]
""",
    "in a loop, in helpers and across functions, the first one wins (T1, T3)": """
import torch

def positive(x, name: str):
    print(f"checking {name}")
    if not (x > 0).all():
        raise ValueError(f"{name}: {x.min().item()}")
    return x

def require(condition, message: str):
    if not condition:
        raise RuntimeError(message)

def inner(xs):
    for i, x in enumerate(xs):
        positive(x, f"x{i}")
        require(bool((x < 9).all()), f"x{i} is large")
    return sum(xs)

def entry(xs: list[torch.Tensor]):
    print("start")
    y = inner(xs)
    if y.max() > 10:
        print("too much")
        raise OverflowError(y.max().item())
    print("end", y.shape)
    return y

def make():
    one, low, high = torch.ones(2), -torch.ones(2), torch.full((2,), 20.0)
    return entry, [([a, b],) for a, b in ((one, one), (one, low), (high, low), (low, high))] + [
        ([one * 6, one * 6],)
    ]
""",
    "exceptions of the program, without a cause, with arguments (T2)": """
import torch

class Bad(Exception):
    def __init__(self, what, *, worst):
        super().__init__(what, worst)
        self.worst = worst

    def __str__(self):
        return f"{self.args[0]}: {self.worst:.1f}"

class Worse(Bad, ValueError):
    pass

def entry(x: torch.Tensor):
    if (x < 0).any():
        raise Bad("negative", worst=x.min().item()) from None
    if (x > 5).any():
        error = f"{(x > 5).sum().item()} of {x.numel()}"
        raise Worse(error, worst=x.max().item())
    if (x == 3).any():
        raise NotImplementedError
    return x.sqrt()

def make():
    return entry, [(torch.tensor([1.0, v]),) for v in (1.0, -2.5, 7.0, 3.0)]
""",
    "nothing that can catch it does (T4)": """
import contextlib
import torch

def checked(x: torch.Tensor):
    if (x < 0).any():
        raise ValueError("negative")
    return x + 1

def entry(x: torch.Tensor):
    with contextlib.nullcontext(), torch.no_grad():
        y = checked(x)
    try:
        rows = {"a": 1}["a"]
    except KeyError:
        rows = 2
    return y * rows

def make():
    return entry, [(torch.ones(2),), (-torch.ones(2),)]
""",
    "writes behind it, in the function and in another module (T5)": """
import torch
from torch import nn

class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(2))
        self.seen = 0

    def forward(self, x: torch.Tensor):
        self.keys.add_(x)
        self.seen += 1
        return self.keys * 2

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = Cache()
        self.last = 0

    def forward(self, x: torch.Tensor):
        if torch.isnan(x).any():
            raise ValueError("nan")
        x.mul_(2)
        y = self.cache(x)
        self.last = x.shape[0]
        if (y > 9).any():
            raise OverflowError("full")
        return y

def make():
    nan = torch.tensor([1.0, float("nan")])
    return Net(), [(torch.ones(2),), (nan,), (torch.ones(2),), (torch.ones(2),)]
""",
    "shapes that it protects (T6)": """
import torch

def entry(x: torch.Tensor, sizes: torch.Tensor):
    if (sizes.prod() != x.numel()).any():
        raise ValueError(f"{sizes.tolist()} do not fit {x.numel()}")
    return (x * 2).view(2, 3) + sizes.sum()

def make():
    sizes = torch.tensor([2, 3])
    return entry, [(torch.ones(6), sizes), (torch.ones(8), sizes), (torch.ones(6), sizes)]
""",
    "Python state that was written before it (T8)": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls, self.names = 0, []

    def forward(self, x: torch.Tensor, notes: list):
        self.calls += 1
        self.names.append(f"call {self.calls}")
        notes.append(self.calls)
        if (x < 0).any():
            raise ValueError(f"negative in call {self.calls}")
        return x + self.calls

def make():
    return Net(), [(torch.ones(2), []), (-torch.ones(2), [0]), (torch.ones(2), [])]
""",
}


@pytest.mark.parametrize("name", named(LEGAL, "legal"))
def test_a_deferred_check_fails_as_the_guard_did(name: str, tmp_path: Path) -> None:
    keeps(LEGAL[name], tmp_path)


@pytest.mark.semantics("T5", "legal")
@pytest.mark.semantics("T2", "legal")
def test_the_exception_says_that_the_check_ran_at_the_end(tmp_path: Path) -> None:
    text = """
import torch

def entry(x: torch.Tensor):
    if (x < 0).any():
        raise ValueError("negative") from KeyError("k")
    return x + 1
"""
    entry = load(mend(text, tmp_path).source, tmp_path / "mended.py").entry
    for call, notes in ((entry, 0), (torch.compile(entry, backend="aot_eager"), 1)):
        with pytest.raises(ValueError, match="negative") as caught:
            call(-torch.ones(2))
        assert isinstance(caught.value.__cause__, KeyError)
        assert len(getattr(caught.value, "__notes__", ())) == notes
    assert "end of the compiled region" in caught.value.__notes__[0]


@pytest.mark.semantics("T7", "legal")
def test_the_default_asserts_nothing_in_the_graph(tmp_path: Path) -> None:
    text = LEGAL["if, its negation, asserts, torch's own checks (T1, T2)"]
    default, asked = mend(text, tmp_path).source, mend(text, tmp_path, trap="async").source
    assert "async" not in default and "async_check" in asked
    entry = load(default, tmp_path / "mended.py").entry
    graphs: list[torch.fx.GraphModule] = []

    def backend(graph: torch.fx.GraphModule, _: object) -> object:
        graphs.append(graph)
        return graph.forward

    torch.compile(entry, backend=backend, fullgraph=True)(torch.ones(2), torch.ones(2))
    assert "assert" not in "".join(graph.code for graph in graphs)


@pytest.mark.semantics("T9", "legal")
def test_without_debug_a_mended_assert_is_gone(tmp_path: Path) -> None:
    text = """
import torch

def entry(x: torch.Tensor):
    assert (x > 0).all(), "low"
    return x + 1
"""
    for program in (text, mend(text, tmp_path).source):
        module: dict[str, object] = {"__name__": "program"}
        exec(compile(program, "program.py", "exec", optimize=1), module)
        entry: Any = module["entry"]
        for call in (entry, torch.compile(entry, backend="eager", fullgraph=True)):
            assert call(-torch.ones(1)).tolist() == [0.0]


@pytest.mark.semantics("T8", "refused")
def test_a_caller_prints_in_a_finally_block(tmp_path: Path) -> None:
    text = """
import torch

def check(x: torch.Tensor):
    if torch.isnan(x).any():
        raise ValueError("nan")
    return x + 1

def entry(x: torch.Tensor):
    try:
        return check(x)
    finally:
        print("left")

def make():
    return entry, [(torch.ones(2),), (torch.tensor([1.0, float("nan")]),)]
"""
    result = mend(text, tmp_path)
    assert {f.code: f.status for f in result.findings} == {"GM301": "fixed", "GM201": "refused"}
    agree(text, result.source, tmp_path, captured=False)
