"""D1 to D16: deferred output shows what it showed, in the same order, once for each time."""

from __future__ import annotations

import gc
import logging
import threading
import warnings
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.semantics.alike import BACKENDS, keeps, mend
from tests.semantics.lines import named
from tests.sides import load

LEGAL = {
    "print with its keywords (D1)": """
import sys
import torch

def entry(x: torch.Tensor):
    print()
    print("a", x.sum(), sep="", end="|")
    print(*x.shape, x.tolist(), sep=", ", file=sys.stderr, flush=True)
    print(f"{x.mean().item():>8.3f}", x.dtype, x.device, end="")
    return x + 1

def make():
    return entry, [(torch.ones(2),), (torch.zeros(3),)]
""",
    "loggers, levels and arguments (D1)": """
import logging
import torch

logger = logging.getLogger("output.net")

def entry(x: torch.Tensor):
    logger.debug("plain")
    logger.info("%s of %d rows, %.2f", x.dtype, x.shape[0], x.mean().item())
    logger.warning("named %(a)s", {"a": 1})
    logger.error(f"{x.sum().item():.1f}", extra={"rows": x.shape[0]})
    logger.critical("level", stacklevel=1)
    logger.log(25, "own level %s", x.tolist())
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("max %s", x.max())
    logging.getLogger("output.other").info("other")
    logging.warning("root %s", x.ndim)
    return x + 1

def make():
    return entry, [(torch.ones(2),), (torch.zeros(3),)]
""",
    "warnings and once-helpers (D1)": """
import functools
import logging
import warnings
import torch

logger = logging.getLogger("output.once")

class OwnWarning(UserWarning):
    pass

@functools.lru_cache(None)
def warning_once(message, *args):
    logger.warning(message, *args)

def entry(x: torch.Tensor):
    warnings.warn(f"{x.shape[0]} rows")
    warnings.warn("old", DeprecationWarning, stacklevel=2)
    warnings.warn("own", OwnWarning)
    for _ in range(2):
        warning_once("once %s", x.shape[0])
    return x + 1

def make():
    return entry, [(torch.ones(2),), (torch.ones(2),), (torch.zeros(3),)]
""",
    "arguments that are written later (D2, D13)": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.n, self.items, self.last = 1, [], torch.zeros(2)

    def forward(self, x: torch.Tensor, items: list, table: dict):
        y = x * 2
        print(y.tolist(), x, items, table, self.n, self.items, self.last)
        y.add_(1)
        x.mul_(3)
        items.append(y.shape[0])
        table["rows"] = len(items)
        self.n += 1
        self.items.append(self.n)
        self.last = y
        print(y.tolist(), x, items, table, self.n, self.items, self.last)
        x.sub_(y)
        items.clear()
        return x + y

def make():
    return Net(), [(torch.ones(n), [n], {"a": n}) for n in (2, 3)]
""",
    "order of effects and checks, calls that are not reached (D4, D5)": """
import logging
import torch

logger = logging.getLogger("output.order")

def layer(x, i: int):
    logger.info("layer %d: %.2f", i, x.mean().item())
    if torch.isnan(x).any():
        raise ValueError(f"nan in layer {i}")
    if i == 2:
        print("skipped")
        return x
    print("through", i)
    return x * 2

def entry(x: torch.Tensor, layers: int):
    for i in range(layers):
        if i == 1:
            continue
        x = layer(x, i)
        if i > 3:
            break
    else:
        print("all")
    if x.sum() > 7:
        print("large", x.sum().item())
    elif x.sum() > 3:
        logger.warning("middling")
    return x

def make():
    nan = torch.tensor([1.0, float("nan")])
    return entry, [(torch.ones(2), n) for n in (0, 2, 3, 6)] + [(nan, 3)]
""",
    "constants before a look-up that fails (D9)": """
import torch

def entry(table: torch.Tensor, ids: torch.Tensor):
    print("looking up", ids.shape, table.dtype)
    return torch.nn.functional.embedding(ids, table)

def make():
    table = torch.ones(3, 2)
    return entry, [(table, torch.tensor([0, 2])), (table, torch.tensor([7]))]
""",
}


@pytest.mark.parametrize("name", named(LEGAL, "legal"))
def test_output_is_what_it_was(name: str, tmp_path: Path) -> None:
    keeps(LEGAL[name], tmp_path)


@pytest.mark.semantics("D11", "legal")
def test_a_deferred_value_has_no_history(tmp_path: Path) -> None:
    text = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        h = x * self.w
        print(h.sqrt().mean().item(), f"{(1 / h).sum():.1f}", h.log().detach(), self.w.tolist())
        return (x * 2 + self.w).sum()

def make():
    return Net(), [(torch.zeros(2, requires_grad=True),), (torch.ones(2, requires_grad=True),)]
"""
    keeps(text, tmp_path, gradients=True)


_PLACES = """
import logging
import warnings
import torch

logger = logging.getLogger("output.places")


def inner(x):
    logger.info("inner")
    warnings.warn("twice")
    return x * 2


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        logger.warning("one")
        for _ in range(2):
            warnings.warn("twice"); x = x + 1
            warnings.warn(
                "twice"
            )
        return inner(x) + inner(x)
"""


def _places(call: Any, registry: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
    records: list[Any] = []
    handler = logging.Handler()
    handler.emit = lambda r: records.append((r.lineno, r.funcName, r.module, r.getMessage()))  # type: ignore[method-assign]
    logger = logging.getLogger("output.places")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    registry.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        call(torch.ones(2))
        call(torch.ones(2))
    logger.removeHandler(handler)
    return records, [(w.lineno, str(w.message)) for w in caught]


@pytest.mark.semantics("D10", "legal")
def test_places_are_those_of_the_site(tmp_path: Path) -> None:
    """Once-per-location filters see as many sites as there were; lines are those of the texts."""
    mended = mend(_PLACES, tmp_path).source
    shown = []
    for text, name in ((_PLACES, "original"), (mended, "program")):
        for backend in (None, *BACKENDS):
            if name == "original" and backend is not None:
                continue
            module = load(text, tmp_path / f"{name}.py")
            torch._dynamo.reset()
            net = module.Net()
            call = net if backend is None else torch.compile(net, backend=backend, fullgraph=True)
            registry = module.__dict__.setdefault("__warningregistry__", {})
            records, warned = _places(call, registry)
            lines = text.splitlines()
            shown.append(
                (
                    [(r[1], r[3]) for r in records],
                    len(warned),
                    [m for _, m in warned],
                    [lines[r[0] - 1].count("log") for r in records],
                )
            )
    assert shown[0][1] == 3
    assert all(one == shown[0] for one in shown[1:]), shown


@pytest.mark.semantics("D1", "legal")
def test_records_carry_arguments_levels_and_extras(tmp_path: Path) -> None:
    text = """
import logging
import torch

logger = logging.getLogger("output.extras")

def entry(x: torch.Tensor):
    logger.debug("below the level", extra={"rows": 0, "mean": 0})
    logger.info("%d of %s", x.shape[0], "ab", extra={"rows": x.shape[0], "mean": x.mean().item()})
    logger.log(35, {"a": x.ndim}, extra={"rows": 1, "mean": None})
    return x + 1
"""
    records: list[Any] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    logger = logging.getLogger("output.extras")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    shown = []
    for name, source in (("original", text), ("mended", mend(text, tmp_path).source)):
        entry = load(source, tmp_path / f"{name}.py").entry
        compiled = torch.compile(entry, backend="eager", fullgraph=True)
        for call in (entry,) if name == "original" else (entry, compiled):
            call(torch.ones(2))
            fields = ("levelno", "msg", "args", "rows", "mean", "funcName", "exc_info")
            shown.append([[getattr(r, field) for field in fields] for r in records])
            records.clear()
    logger.removeHandler(handler)
    assert len(shown[0]) == 2 and shown == [shown[0]] * 3


@pytest.mark.semantics("D1", "legal")
@pytest.mark.parametrize("action", ["error", "once", "ignore"])
def test_filters_of_warnings_decide(action: Any, tmp_path: Path) -> None:
    text = """
import warnings
import torch

def entry(x: torch.Tensor):
    for i in range(2):
        warnings.warn(f"step {i // 2}", FutureWarning)
    return x + 1
"""
    shown = []
    for name, source in (("original", text), ("mended", mend(text, tmp_path).source)):
        entry = load(source, tmp_path / f"{name}.py").entry
        call = entry if name == "original" else torch.compile(entry, backend="eager")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter(action, FutureWarning)
            try:
                result = call(torch.ones(2)).tolist()
            except FutureWarning as error:
                result = str(error)
        shown.append((result, [str(w.message) for w in caught]))
    assert shown[0] == shown[1]


class _ByThread(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[int, list[str]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.setdefault(threading.get_ident(), []).append(record.getMessage())


@pytest.mark.semantics("D8", "legal")
def test_threads_keep_their_effects_apart(tmp_path: Path) -> None:
    text = """
import logging
import torch

logger = logging.getLogger("output.threads")

def entry(x: torch.Tensor):
    for i in range(2):
        x = x + 1
        logger.info("%d: %.0f", i, x.max().item())
    if (x > 50).any():
        raise ValueError(f"large: {x.max().item()}")
    return x
"""
    entry = load(mend(text, tmp_path).source, tmp_path / "mended.py").entry
    compiled = torch.compile(entry, backend="eager", fullgraph=True)
    logger, handler = logging.getLogger("output.threads"), _ByThread()
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    raised: dict[int, set[str]] = {}

    def work(value: int) -> None:
        for _ in range(10):
            try:
                assert compiled(torch.full((2,), float(value))).tolist() == [value + 2.0] * 2
            except ValueError as error:
                raised.setdefault(value, set()).add(str(error))

    threads = [threading.Thread(target=work, args=(value,)) for value in (1, 60, 2, 70)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    logger.removeHandler(handler)
    assert raised == {60: {"large: 62.0"}, 70: {"large: 72.0"}}
    found = sorted(handler.seen.values())
    assert found == sorted([f"0: {v + 1}", f"1: {v + 2}"] * 10 for v in (1, 2, 60, 70))


@pytest.mark.semantics("D2", "legal")
def test_only_what_is_written_later_is_copied(tmp_path: Path) -> None:
    text = """
import torch

def entry(x: torch.Tensor):
    written, kept = x * 2, x * 3
    print(written, kept)
    written.add_(1)
    return written + kept
"""
    entry = load(mend(text, tmp_path).source, tmp_path / "mended.py").entry
    graphs: list[torch.fx.GraphModule] = []

    def backend(graph: torch.fx.GraphModule, _: object) -> Any:
        graphs.append(graph)
        return graph.forward

    torch.compile(entry, backend=backend, fullgraph=True)(torch.ones(2))
    (graph,) = graphs
    copied = [n.args[0] if n.args else n for n in graph.graph.nodes if "clone" in str(n.target)]
    assert [str(node) for node in copied] == ["written"]


@pytest.mark.semantics("D16", "legal")
def test_a_message_keeps_no_activation_alive(tmp_path: Path) -> None:
    """The graph hands out the number that a message shows, not the tensor that it comes from."""
    text = """
import torch

def entry(x: torch.Tensor):
    for i in range(3):
        x = torch.tanh(x) + 1
        print(i, x.abs().mean().item(), f"{x.std():.2f}", x.shape)
        if torch.isnan(x).any():
            raise ValueError(f"nan: {x.sum().item()}")
    return x.sum()
"""
    entry = load(mend(text, tmp_path).source, tmp_path / "mended.py").entry
    handed: list[torch.Tensor] = []

    def backend(graph: torch.fx.GraphModule, _: object) -> Any:
        def run(*inputs: torch.Tensor) -> Any:
            outputs = graph(*inputs)
            handed.extend(outputs)
            return outputs

        return run

    torch.compile(entry, backend=backend, fullgraph=True)(torch.ones(64, 64))
    assert len(handed) > 3
    assert max(tensor.numel() for tensor in handed) == 1


@pytest.mark.semantics("D9", "legal")
def test_the_switch_runs_output_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
import torch

def entry(x: torch.Tensor):
    y = x + 1
    print("sum", y.sum().item())
    return y * 2
"""
    entry = load(mend(text, tmp_path).source, tmp_path / "mended.py").entry
    graphs = []

    def backend(graph: torch.fx.GraphModule, _: object) -> Any:
        graphs.append(graph)
        return graph.forward

    for value, count in (("0", 2), ("1", 3)):
        monkeypatch.setenv("GRAPHMEND_DEFER", value)
        torch._dynamo.reset()
        torch.compile(entry, backend=backend)(torch.ones(2))
        assert len(graphs) == count


def test_nothing_of_a_call_outlives_it(tmp_path: Path) -> None:
    text = """
import torch

def entry(x: torch.Tensor):
    y = x + 1
    print(y)
    return y.sum()
"""
    entry = load(mend(text, tmp_path).source, tmp_path / "mended.py").entry
    compiled = torch.compile(entry, backend="eager", fullgraph=True)
    x = torch.ones(2)
    compiled(x)
    reference = weakref.ref(x)
    del x
    gc.collect()
    assert reference() is None
