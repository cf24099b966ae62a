"""Log records on a side of a branch: they show the function that they stand in, as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sides import assert_mends, mended

_HEAD = """
import logging
import torch

logger = logging.getLogger(__name__)
"""

_MAKE = """
def make():
    big, small = torch.tensor([6e4, -6e4, 1.0]).half(), torch.ones(3).half()
    return entry, [(small,), (big,), (big * float("nan"),), (small * 3,)]
"""

RECORDS = {
    "report and clamp": """
def entry(x):
    h = x * 2
    if torch.isinf(h).any():
        logger.warning("infinite values, largest of the rest %s", x.max())
        h = h.clamp(-1e4, 1e4)
    return h + 1
""",
    "on the else side, beside a print": """
def entry(x):
    h = x * 2
    if torch.isfinite(h).all():
        print("fine")
        h = h - 1
    else:
        logger.info("not finite")
        h = torch.nan_to_num(h)
    return h + 1
""",
    "behind an early return": """
def entry(x):
    h = x * 2
    if torch.isfinite(h).all():
        return h - 1
    logger.info("not finite")
    h = torch.nan_to_num(h)
    return h + 1
""",
    "in a branch inside a side": """
def entry(x):
    h = x * 2
    if torch.isinf(h).any():
        h = h.clamp(-1e4, 1e4)
        if (x > 1e4).all():
            logger.info("all large")
            h = h / 2
    return h + 1
""",
    "in a chain": """
def entry(x):
    h = x * 2
    if torch.isnan(h).any():
        h = torch.nan_to_num(h)
    elif torch.isinf(h).any():
        logger.info("infinite")
        h = h.clamp(-1e4, 1e4)
    return h + 1
""",
    "where a chosen number is used": """
def entry(x):
    h = x * 2
    scale = 2 if torch.isinf(h).any() else 3
    logger.info("chosen")
    h = h / scale
    return h + 1
""",
}


@pytest.mark.parametrize("program", RECORDS.values(), ids=RECORDS)
def test_records_show_the_function_of_the_branch(program: str, tmp_path: Path) -> None:
    assert_mends(_HEAD + program + _MAKE, tmp_path)


METHOD = """
import logging
import torch
from torch import nn

logger = logging.getLogger(__name__)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(2, 2)

    def forward(self, x):
        h = self.proj(x)
        if torch.isinf(h).any():
            logger.warning("clamped")
            h = h.clamp(-1e4, 1e4)
        return h + 1
"""


def test_the_side_is_called_as_the_function_is(tmp_path: Path) -> None:
    text = mended(METHOD, tmp_path).source
    assert "        def forward(h):\n            _forward_log()\n" in text
    assert "h = select(torch.isinf(h).any(), forward, lambda h: h, h)" in text
