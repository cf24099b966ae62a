"""Output that [Defer] mends: both sides show the same, in the same order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.semantics.lines import named
from tests.sides import assert_mends, mended

MENDED = {
    "print in a submodule loop (D1, D4)": """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.i = i
        self.fc = nn.Linear(3, 3)

    def _trace(self, t):
        print(f"block {self.i}: mean={t.mean().item():.4f}")

    def forward(self, x):
        y = torch.tanh(self.fc(x)) + x
        self._trace(y)
        return y

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(i) for i in range(3))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x.sum()

def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(2, 3),), (torch.zeros(2, 3),)]
""",
    "print with keywords (D1)": """
import sys
import torch

def entry(a, b):
    pair = [a.sum(), b.sum()]
    print("sums", *pair, sep="|", end=";\\n", file=sys.stderr, flush=True)
    return torch.stack(pair).mean()

def make():
    return entry, [(torch.ones(2), torch.ones(3)), (torch.zeros(2), torch.ones(1))]
""",
    "every logger method (D1)": """
import logging
import torch

logger = logging.getLogger("net")

def entry(x):
    logger.debug("debug %s", x.shape)
    logger.info("info %d of %d", 1, 2)
    logger.warning("mean %.3f", x.mean())
    logger.error(f"rows {x.shape[0]}")
    logger.log(logging.CRITICAL, "level", extra={"rows": 3})
    if logger.isEnabledFor(logging.INFO):
        logger.info("max %s", x.max().item())
    logging.getLogger("other").info("other")
    return torch.sin(x)

def make():
    return entry, [(torch.ones(2),), (torch.zeros(3),)]
""",
    "warnings, category and level (D1)": """
import warnings
import torch

def entry(x, old: bool):
    if old:
        warnings.warn("old is deprecated", DeprecationWarning, stacklevel=2)
    warnings.warn(f"{x.dim()} dims")
    return torch.sin(x)

def make():
    return entry, [(torch.ones(2), True), (torch.ones(2), False)]
""",
    "once-helper keeps its cache (D1)": """
import functools
import logging
import torch

logger = logging.getLogger("once")

@functools.lru_cache(None)
def warn_once(message):
    logger.warning(message)

def entry(x, loud: bool):
    if loud:
        warn_once("loud")
    return torch.sin(x)

def make():
    return entry, [(torch.ones(2), True), (torch.ones(2), True), (torch.ones(2), False)]
""",
    "behind a test on data (D5)": """
import warnings
import torch

def entry(x):
    if (x == 0).any():
        warnings.warn(f"zeros among {x.shape[0]}")
    elif (x < 0).any():
        print("negative", x.min().item())
    return torch.sin(x)

def make():
    return entry, [(torch.ones(2),), (torch.zeros(3),), (-torch.ones(2),)]
""",
    "written later (D2, D13)": """
import torch

def entry(x, items):
    print("before", x, items)
    x.add_(1)
    items.append(3)
    print("after", x, items)
    return x * 2

def make():
    return entry, [(torch.ones(2), [1]), (torch.zeros(3), [])]
""",
    "not reached, not replayed (D5)": """
import torch

def entry(x, n: int):
    for i in range(n):
        print(i, x.sum().item())
        if i == 1:
            return x
    print("done")
    return x * 2

def make():
    return entry, [(torch.ones(2), 0), (torch.ones(2), 1), (torch.ones(2), 4)]
""",
    "order with guards (D4, T3)": """
import torch

def check(x):
    print("checking")
    if torch.isnan(x).any():
        raise ValueError("nan")
    print("fine")

def entry(x, y):
    check(x)
    check(y)
    return x + y

def make():
    one, nan = torch.ones(2), torch.tensor([float("nan")] * 2)
    return entry, [(one, one), (one, nan), (nan, one)]
""",
    "debug f-string keeps its text (S1)": """
import torch

def entry(x):
    n = x.shape[0]
    print(f"{n=} {x.dtype!s:>14}")
    return torch.sin(x)

def make():
    return entry, [(torch.ones(2),)]
""",
}


@pytest.mark.parametrize("name", named(MENDED, "legal"))
def test_both_sides_show_the_same(name: str, tmp_path: Path) -> None:
    assert_mends(MENDED[name], tmp_path)


@pytest.mark.semantics("D11", "legal")
def test_deferred_values_leave_gradients_alone(tmp_path: Path) -> None:
    text = """
import torch

def entry(x):
    y = torch.sqrt(x)
    print(y.mean().item())
    return x * 2

def make():
    return entry, [(torch.tensor([0.0, 4.0], requires_grad=True),)]
"""
    assert_mends(text, tmp_path, gradients=True)


@pytest.mark.semantics("S1", "legal")
def test_only_the_lines_of_the_site_change(tmp_path: Path) -> None:
    text = (
        "# -*- coding: utf-8 -*-\r\n"
        "from __future__ import annotations\r\n"
        "import torch\r\n"
        "\r\n"
        "def entry(x):  # é\r\n"
        "\tx = x + 1   # odd   spacing\r\n"
        "\tprint('x', x.mean().item())  # shown\r\n"
        "\treturn torch.sin( x )\r\n"
    )
    after = mended(text, tmp_path).source
    assert after == (
        "# -*- coding: utf-8 -*-\r\n"
        "from __future__ import annotations\r\n"
        "import torch\r\n"
        "from graphmend.runtime import deferred_effect\r\n"
        "\r\n"
        "@deferred_effect\r\n"
        "def _entry_print(x_mean):\r\n"
        "\tprint('x', x_mean.item())\r\n"
        "\r\n"
        "\r\n"
        "def entry(x):  # é\r\n"
        "\tx = x + 1   # odd   spacing\r\n"
        "\t_entry_print(x.mean())  # shown\r\n"
        "\treturn torch.sin( x )\r\n"
    )


@pytest.mark.semantics("S3", "legal")
def test_names_do_not_clash(tmp_path: Path) -> None:
    text = """
import torch

deferred_effect = 3
_entry_print = 4

def entry(x, x_mean):
    print(x.mean().item(), x_mean)
    return torch.sin(x)

def make():
    return entry, [(torch.ones(2), 5)]
"""
    after = assert_mends(text, tmp_path)
    assert "deferred_effect as deferred_effect_2" in after
    assert "_entry_print_2(" in after
