"""Output of what is written later, or differs from call to call: it shows what it showed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.semantics.lines import named
from tests.sides import assert_mends, mended

MENDED = {
    "module-level list, read in a helper (D13)": """
import torch

seen = []

def emit(text):
    seen.append(text)
    print(text, len(seen), seen)

def entry(x):
    emit("first")
    y = torch.sin(x)
    emit("second")
    return y

def make():
    seen.clear()
    return entry, [(torch.ones(2),)]
""",
    "module-level dict, tensor, class attribute (D2, D13)": """
import torch

totals = {"rows": 0}
running = torch.zeros(2)

class Counter:
    calls = 0

def rows():
    return totals["rows"]

def entry(x):
    print(totals, totals["rows"], rows(), running, Counter.calls)
    totals["rows"] += x.shape[0]
    Counter.calls += 1
    running.add_(x)
    print(totals, totals["rows"], rows(), running, Counter.calls)
    if (x > 1).any():
        print("large", totals, Counter.calls)
    totals["rows"] += 1
    Counter.calls += 1
    return torch.sin(x)

def make():
    totals["rows"] = Counter.calls = 0
    running.zero_()
    return entry, [(torch.ones(2),), (torch.ones(2) * 2,)]
""",
    "keys differ from call to call": """
import torch

def entry(x, options):
    print({"options": options})
    return torch.sin(x)

def make():
    return entry, [(torch.ones(2), {"a": 1}), (torch.ones(3), {}), (torch.ones(4), {"b": 2})]
""",
    "modes of the site (W12)": """
import torch

def entry(x):
    with torch.no_grad():
        print(torch.is_grad_enabled())
        x = torch.sin(x)
    print(torch.is_grad_enabled())
    return x

def make():
    return entry, [(torch.ones(2),)]
""",
    "behind the level of a logger (D1)": """
import logging
import torch

logger = logging.getLogger("level")

def entry(x):
    if logger.level <= logging.INFO:
        logger.info("rows %d", x.shape[0])
    if logger.isEnabledFor(logging.DEBUG) and x.dim() == 1:
        logger.debug("mean %.3f", x.mean().item())
    return torch.sin(x)

def make():
    return entry, [(torch.ones(2),), (torch.ones(2, 2),)]
""",
    "sizes and dtype before a look-up that fails (D9)": """
import torch
import torch.nn.functional as F

def entry(ids, table):
    print("ids", ids.shape, ids.dtype, len(ids), ids.dim())
    return F.embedding(ids, table)

def make():
    return entry, [(torch.tensor([0, 1]), torch.ones(2, 3)), (torch.tensor([7]), torch.ones(2, 3))]
""",
    "pretty printers and streams (D1)": """
import sys
from pprint import pprint
import torch

def entry(x):
    y = torch.sin(x)
    pprint({"shape": tuple(x.shape)})
    sys.stdout.write(f"mean {y.mean().item():.3f}\\n")
    sys.stdout.flush()
    sys.stderr.write("done\\n")
    return y

def make():
    return entry, [(torch.ones(2),), (torch.zeros(3),)]
""",
    "numbers shown by another print": """
import torch

def entry(x):
    print("mean", x.mean().item())
    print("sum", int(x.sum()), x.tolist())
    return torch.sin(x)

def make():
    return entry, [(torch.ones(2),), (torch.zeros(3),)]
""",
    "behind a test on a buffer": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.tensor(0))

    def forward(self, x, parts: list[torch.Tensor]):
        self.calls += 1
        if self.calls > 2:
            print("warm", self.calls.item())
        if parts[0] > 0:
            print("positive")
        return torch.sin(x) + parts[0]

def make():
    return Net(), [(torch.ones(2), [torch.tensor(1)]), (torch.ones(2), [torch.tensor(0)])]
""",
    "tests on elements of what is trained": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        y = self.layer(x)
        if torch.isnan(y).any() or torch.isinf(y).any():
            print("not finite:", torch.isnan(y).sum().item(), "of", y.numel())
        return y

def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(1, 2),), (torch.full((1, 2), float("nan")),)]
""",
}


@pytest.mark.parametrize("name", named(MENDED, "legal"))
def test_both_sides_show_the_same(name: str, tmp_path: Path) -> None:
    assert_mends(MENDED[name], tmp_path)


@pytest.mark.semantics("D13", "legal")
def test_an_attribute_that_is_written_later_is_read_at_the_site(tmp_path: Path) -> None:
    text = """
import torch
from settings import options

def entry(x):
    if (x > 1).any():
        print("large", options.table[int(x.max())])
    options.table = None
    return torch.sin(x)
"""
    result = mended(text, tmp_path)
    assert "    _entry_print((x > 1).any(), options.table, x)\n" in result.source


@pytest.mark.semantics("D9", "refused")
def test_ids_that_are_shown_come_before_their_look_up_fails(tmp_path: Path) -> None:
    text = """
import torch
import torch.nn.functional as F

def entry(ids, table):
    print("ids", ids.shape, ids)
    return F.embedding(ids, table)
"""
    result = mended(text, tmp_path)
    assert result.source == text
    assert "can fail on data" in (result.findings[0].reason or "")
