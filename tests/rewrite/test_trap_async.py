"""Guards that become asserts in the graph: what comes out when they fail, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from graphmend.api import fix_source
from graphmend.findings import Result
from tests.sides import Seen, assert_same, load, observe

pytestmark = pytest.mark.usefixtures("imported_compiler")

HEAD = "import torch\n"
MENDED = {
    "if, negated, assert": """
def entry(x: torch.Tensor, y: torch.Tensor):
    if torch.isnan(x).any():
        raise ValueError("nan", x.dim())  # explain
    if not (y > 0).all():
        raise IndexError(f"not positive in {y.shape[0]} rows") from KeyError("y")
    assert (x < 9).all(), "large"
    return x * 2 + y

def make():
    one, nan = torch.ones(2), torch.tensor([1.0, float("nan")])
    return entry, [(one, one), (nan, one), (one, -one), (one * 9, one), (nan, -one)]
""",
    "flags, and, or": """
def entry(x: torch.Tensor, strict: bool):
    if strict and (torch.isnan(x).any() or torch.isinf(x).any()):
        raise RuntimeError("not finite")
    if (x > 3).all() and (x < 7).all():
        raise ValueError("between")
    return x + 1

def make():
    inf, nan, mid = (torch.tensor([1.0, v]) for v in (float("inf"), float("nan"), 2.0))
    return entry, [(mid, True), (inf, True), (nan, True), (inf, False), (mid + 3, True)]
""",
    "sums as truth, and NaN is true": """
def entry(x):
    if x.sum():
        raise ValueError("not zero")
    return x * 2

def make():
    return entry, [(torch.zeros(2),), (torch.ones(2),), (torch.tensor([float("nan")] * 2),)]
""",
    "elif and a loop": """
def entry(xs, mode: str):
    if mode == "raw":
        return xs
    elif (xs[0] > 5).any():
        raise ValueError("large")
    for i, x in enumerate(xs):
        if (x < 0).any():
            raise ValueError(f"negative at {i}")
    return [x + 1 for x in xs]

def make():
    one = torch.ones(2)
    return entry, [
        ([one, one], "a"), ([one * 6, -one], "raw"), ([one * 6, -one], "a"), ([one, -one], "a")
    ]
""",
    "a method, called by another module": """
from torch import nn

class Inner(nn.Module):
    def check(self, x):
        if (x > 3).any():
            raise ValueError("above")

    def forward(self, x):
        self.check(x)
        return x + 1

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.scale = nn.Linear(2, 2)

    def forward(self, x):
        return self.inner(self.scale(x) * 0 + x) * 2

def make():
    torch.manual_seed(0)
    return Outer(), [(torch.ones(2),), (torch.full((2,), 9.0),)]
""",
}


def fixed(text: str, folder: Path, **options: Any) -> Result:
    path = folder / "program.py"
    path.write_text(text)
    return fix_source(text, str(path), trap="async", **options)


def sides(text: str, mended: str, folder: Path, backend: str | None) -> list[tuple[Seen, Seen]]:
    """What each call of the original shows when run eagerly, and the same call of the mended."""
    shown = []
    for name, source, compiled in ("original", text, None), ("mended", mended, backend):
        owner, inputs = load(source, folder / f"{name}_{backend}.py").make()
        torch._dynamo.reset()
        call = owner
        if compiled is not None:
            call = torch.compile(owner, backend=compiled, fullgraph=True)
        shown.append([observe(call, owner, arguments) for arguments in inputs])
    return list(zip(*shown, strict=True))


@pytest.mark.parametrize("backend", [None, "eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("text", MENDED.values(), ids=list(MENDED))
@pytest.mark.semantics("T2", "legal")
@pytest.mark.semantics("T3", "legal")
@pytest.mark.semantics("T7", "legal")
def test_type_message_and_order_are_those_of_the_original(
    text: str, backend: str | None, tmp_path: Path
) -> None:
    result = fixed(HEAD + text, tmp_path)
    assert {(f.status, f.reason) for f in result.findings} == {("fixed", None)}
    for original, mended in sides(HEAD + text, result.source, tmp_path, backend):
        assert_same(original, mended)
    assert fixed(result.source, tmp_path).source == result.source


@pytest.mark.semantics("T7", "legal")
def test_the_graph_asserts_and_nothing_reads_it_back(tmp_path: Path) -> None:
    text = HEAD + MENDED["flags, and, or"]
    module = load(fixed(text, tmp_path).source, tmp_path / "mended.py")
    owner, inputs = module.make()
    graphs: list[torch.fx.GraphModule] = []

    def backend(graph: torch.fx.GraphModule, _: object) -> object:
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    torch.compile(owner, backend=backend, fullgraph=True)(*inputs[0])
    (graph,) = graphs
    targets = [node.target for node in graph.graph.nodes]
    assert targets.count(torch.ops.aten._assert_async.msg) == 2
    assert not {"item", "tolist"} & set(map(str, targets))


@pytest.mark.semantics("T2", "legal")
def test_cause_and_context_are_those_of_the_original(tmp_path: Path) -> None:
    text = HEAD + MENDED["if, negated, assert"]
    module = load(fixed(text, tmp_path).source, tmp_path / "mended.py")
    torch._dynamo.reset()
    with pytest.raises(IndexError) as caught:
        torch.compile(module.entry, backend="aot_eager")(torch.ones(2), -torch.ones(2))
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.__context__ is None
    lines = [str(entry.statement).strip() for entry in caught.traceback]
    assert lines[-2].startswith("_entry_check_2(") and lines[-1].startswith("raise IndexError")


BREAKS = {
    "a tensor is written after it, by a caller": """
def check(x):
    if (x < 0).any():
        raise ValueError("negative")

def entry(x):
    check(x)
    x.add_(1)
    return x * 2

def make():
    return entry, [(torch.ones(2),), (-torch.ones(2),)]
""",
    "a tensor is written before it, by a caller": """
def check(x):
    if (x > 5).any():
        raise ValueError("large")

def entry(x):
    x.add_(1)
    check(x)
    return x * 2

def make():
    return entry, [(torch.ones(2),), (torch.full((2,), 5.0),)]
""",
    "an attribute is written before it, by a caller": """
from torch import nn

def check(x):
    if (x < 0).any():
        raise ValueError("negative")

class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        check(x)
        return x * 2

def make():
    return Counts(), [(torch.ones(2),), (-torch.ones(2),)]
""",
    "output shows data before it, in a caller": """
def check(x):
    if (x < 0).any():
        raise ValueError("negative")

def entry(x):
    print("sum", x.sum())
    check(x)
    return x * 2

def make():
    return entry, [(torch.ones(2),), (-torch.ones(2),)]
""",
    "a mode is open around it": """
def check(x):
    if (x < 0).any():
        raise ValueError("negative")

def entry(x):
    with torch.no_grad():
        check(x)
    return x * 2

def make():
    return entry, [(torch.ones(2),), (-torch.ones(2),)]
""",
}


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("text", BREAKS.values(), ids=list(BREAKS))
@pytest.mark.semantics("T7", "refused")
def test_where_the_trace_shows_it_would_be_wrong_the_graph_breaks_as_before(
    text: str, backend: str, tmp_path: Path
) -> None:
    result = fixed(HEAD + text, tmp_path)
    assert "async_check" in result.source
    original, inputs = load(HEAD + text, tmp_path / "original.py").make()
    mended = load(result.source, tmp_path / f"mended_{backend}.py").make()[0]
    torch._dynamo.reset()
    compiled = torch.compile(mended, backend=backend)
    for arguments in inputs:
        assert_same(observe(original, original, arguments), observe(compiled, mended, arguments))
    assert torch.is_grad_enabled()


def test_output_without_data_before_it_appears(tmp_path: Path) -> None:
    text = HEAD + BREAKS["output shows data before it, in a caller"].replace(", x.sum()", "")
    for original, mended in sides(text, fixed(text, tmp_path).source, tmp_path, "aot_eager"):
        assert_same(original, mended)


def test_random_numbers_before_it_do_not_change_what_fails(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
def entry(x):
    x = torch.nn.functional.dropout(x, 0.5)
    if (x.sum() > 50).any():
        raise ValueError("more than half")
    if (x.sum() <= 50).any():
        raise ValueError("half at most")
    return x

def make():
    return entry, [(torch.full((99,), 0.5),)] * 8
"""
    )
    for original, mended in sides(text, fixed(text, tmp_path).source, tmp_path, "aot_eager"):
        assert_same(original, mended)


REFUSED = {
    "its exception shows `x`": """
def entry(x):
    if (x < 0).any():
        raise ValueError(f"negative in {x.tolist()}")
    return x * 2
""",
    "its exception shows `x`, which an assert does not keep": """
def entry(x):
    assert (x > 0).all(), x.min()
    return x * 2
""",
    "does nothing else, becomes": """
def entry(x):
    if (x < 0).any():
        print("negative")
        raise ValueError("negative")
    return x * 2
""",
    "and does nothing else, becomes an assert": """
def entry(x):
    if (x < 0).any():
        raise ValueError("negative")
    elif (x > 9).any():
        raise ValueError("large")
    return x * 2
""",
    "`torch.isnan(x)` is not known to be a tensor of one element": """
def entry(x):
    if torch.isnan(x):
        raise ValueError("nan")
    return x * 2
""",
    "is worked out only when the guard runs": """
def entry(x):
    if x.min().item() < 0:
        raise ValueError("negative")
    return x * 2
""",
    "making `Counted` may have an effect of its own": """
COUNT = []

class Counted(ValueError):
    def __init__(self, text):
        super().__init__(text)
        COUNT.append(text)

def entry(x):
    if (x < 0).any():
        raise Counted("negative")
    return x * 2
""",
    "it stands in the try/finally of line": """
def entry(x):
    try:
        if (x < 0).any():
            raise ValueError("negative")
        return x * 2
    finally:
        pass
""",
    "writes a tensor in place": """
def entry(x):
    if (x < 0).any():
        raise ValueError("negative")
    x.add_(1)
    return x * 2
""",
    "does before it would be lost when the graph fails": """
def entry(x, seen: list):
    seen.append(1)
    if (x < 0).any():
        raise ValueError("negative")
    return x * 2
""",
    "would be lost": """
def entry(x):
    print("checking")
    if (x < 0).any():
        raise ValueError("negative")
    return x * 2
""",
    "can fail on data, before what is deferred": """
def entry(x, ids):
    if (ids > 9).any():
        raise ValueError("ids")
    return x[ids.long()]
""",
}


@pytest.mark.parametrize("reason", REFUSED)
@pytest.mark.semantics("T7", "refused")
def test_a_guard_is_refused(reason: str, tmp_path: Path) -> None:
    text = HEAD + REFUSED[reason] + "\ncompiled = torch.compile(entry)\n"
    result = fixed(text, tmp_path)
    (finding,) = [f for f in result.findings if f.code.startswith("GM3")]
    assert finding.status == "refused" and reason in (finding.reason or ""), finding.reason
