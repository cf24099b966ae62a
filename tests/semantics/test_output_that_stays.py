"""D1, D3, D6, D7, D9, D11 to D15: output that is left where it stands, or is none."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.semantics.alike import BACKENDS, agree, mend, refused
from tests.semantics.lines import named
from tests.sides import load

_HEAD = """
import contextlib
import io
import logging
import sys
import time
import warnings
import torch
from torch import nn

logger = logging.getLogger(__name__)
SEEN = []
TICKS = iter(range(9))

@contextlib.contextmanager
def quiet():
    logging.disable()
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)

def tick():
    SEEN.append(1)
    return len(SEEN)

def entry(x: torch.Tensor, i: torch.Tensor):
    y = x * 2
"""
REFUSED = {
    "the exception being handled (D1)": (
        "    try:\n        y = x.view(3)\n    except RuntimeError:\n"
        '        logger.exception("no view")\n    return y\n',
        "exception being handled",
    ),
    "exc_info (D1)": (
        "    try:\n        y = x.view(3)\n    except RuntimeError:\n"
        '        logger.error("no view", exc_info=True)\n    return y\n',
        "exception being handled",
    ),
    "the call stack (D1)": (
        '    logger.info("here", stack_info=True)\n    return y\n',
        "stack",
    ),
    "a value that is used (D1)": ("    z = print(y.sum())\n    return y, z\n", "value is used"),
    "a counter (D3)": ('    print("t", tick())\n    return y\n', "tick"),
    "a clock (D3)": ('    logger.info("%s", time.time())\n    return y\n', "impure"),
    "an iterator (D3)": ("    print(next(TICKS))\n    return y\n", "next"),
    "random numbers (D3)": ("    print(torch.rand(2))\n    return y\n", "effect"),
    "ids before their look-up (D9)": ("    print(i)\n    return x[i]\n", "can fail on data"),
    "a buffer that is read back (D14)": (
        "    out = io.StringIO()\n    print(y.sum(), file=out)\n    return y, out.getvalue()\n",
        "may be read before the end",
    ),
    "output that is redirected (D14, D15)": (
        "    out = io.StringIO()\n    with contextlib.redirect_stdout(out):\n"
        "        print(y.sum())\n    return y, out.getvalue()\n",
        "redirect_stdout",
    ),
    "warnings that are filtered (D15)": (
        '    with warnings.catch_warnings():\n        warnings.simplefilter("ignore")\n'
        '        warnings.warn("quiet")\n    return y\n',
        "catch_warnings",
    ),
    "records in a with of the program's own (D15)": (
        '    with quiet():\n        logger.info("quiet")\n    return y\n',
        "quiet()",
    ),
}


@pytest.mark.parametrize("name", named(REFUSED, "refused"))
def test_output_that_must_stay_is_left(name: str, tmp_path: Path) -> None:
    statements, reason = REFUSED[name]
    refused(_HEAD + statements, tmp_path, "GM20", reason)


SILENT = {
    "a print of the module's own (D6)": """
import torch

def print(*values):
    SEEN.append(values)

SEEN = []

def entry(x: torch.Tensor):
    print(x)
    return x + 1
""",
    "a print that an argument shadows (D6)": """
import torch

def entry(x: torch.Tensor, print):
    print(x)
    return x + 1
""",
    "a print that the module rebinds later (D6)": """
import torch

def entry(x: torch.Tensor):
    print(x)
    return x + 1

print = lambda *values: None
""",
    "methods that are merely called info and warn (D6)": """
import torch
from torch import nn

class Board:
    def info(self, text):
        return text

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.board = Board()

    def warn(self, text):
        self.text = text

    def forward(self, x: torch.Tensor):
        self.warn("x")
        self.board.info("x")
        return x + 1
""",
    "constructors, data loading and training loops (D7)": """
import torch
from torch import nn
from torch.utils.data import Dataset

class Rows(Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, i):
        print("loading", i)
        return torch.ones(2) * i

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        print("building")
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)

def train(model, rows, optimizer):
    for x in rows:
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        print(loss.item())

if __name__ == "__main__":
    net = Net()
    train(net, Rows(), torch.optim.SGD(net.parameters()))
""",
    "a progress bar (D1)": """
import torch
from tqdm import tqdm

def entry(x: torch.Tensor):
    for _ in tqdm(range(3)):
        x = x + 1
    tqdm.write(f"rows {x.shape[0]}")
    return x
""",
}


@pytest.mark.parametrize("name", named(SILENT, "refused"))
def test_what_is_no_output_of_a_graph_is_not_touched(name: str, tmp_path: Path) -> None:
    result = mend(SILENT[name], tmp_path)
    assert (result.source, result.findings) == (SILENT[name], ())


@pytest.mark.semantics("D6", "refused")
def test_a_test_patches_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mended print is still that of the module: what is patched there is called."""
    text = (
        "import torch\n\ndef entry(x: torch.Tensor):\n    print('x', x.sum())\n    return x + 1\n"
    )
    module = load(mend(text, tmp_path).source, tmp_path / "mended.py")
    seen: list[object] = []
    monkeypatch.setattr(module, "print", lambda *values: seen.append(values), raising=False)
    module.entry(torch.ones(2))
    torch.compile(module.entry, backend="eager")(torch.ones(2))
    assert [values[0] for values in seen] == ["x", "x"]


KEPT = {
    "a tensor whose text shows its history (D11)": """
import torch

def entry(x: torch.Tensor):
    y = x * 2
    print(y)
    return y.sum()

def make():
    return entry, [(torch.ones(2, requires_grad=True),)]
""",
    "an object that is made on the way (D13)": """
import warnings
import torch

class Box:
    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return f"Box({self.x.sum().item()})"

def entry(x: torch.Tensor):
    box = Box(x * 2)
    print(box)
    warnings.warn(UserWarning("made", 3))
    box.x = x
    return x + 1

def make():
    return entry, [(torch.ones(2),)]
""",
    "inside activation checkpointing (D12)": """
import torch
from torch.utils.checkpoint import checkpoint

def block(x):
    y = x.sin()
    print("block", y.sum().item())
    if (y > 2).any():
        raise ValueError("large")
    return y * 2

def entry(x: torch.Tensor):
    return checkpoint(block, x, use_reentrant=False).sum()

def make():
    return entry, [(torch.ones(2, requires_grad=True),), (torch.zeros(2, requires_grad=True),)]
""",
    "inside vmap and func.grad (D12)": """
import torch

def row(r):
    print("row")
    return (r * r).sum()

def entry(x: torch.Tensor):
    return torch.vmap(row)(x) + torch.func.grad(row)(x[0]).sum()

def make():
    return entry, [(torch.ones(2, 2),)]
""",
}


@pytest.mark.parametrize("name", named(KEPT, "refused"))
def test_what_is_seen_while_tracing_breaks_the_graph(name: str, tmp_path: Path) -> None:
    result = mend(KEPT[name], tmp_path)
    assert result.source != KEPT[name]
    # Under aot_eager a history has other names, in the original as well.
    backends = BACKENDS[:1] if "history" in name else BACKENDS
    agree(KEPT[name], result.source, tmp_path, captured=False, gradients=True, backends=backends)
