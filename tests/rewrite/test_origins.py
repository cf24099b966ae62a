"""A finding in a copied definition names the source of the copy."""

from __future__ import annotations

import pytest

from graphmend.api import check_source
from graphmend.report.text import line

METHOD = """
import torch
from torch import nn

class Net(nn.Module):
    # Copied from library.base.Base.forward with Base->Net
    # and shortened
    @torch.no_grad()
    def forward(self, x: torch.Tensor):
        print(x.mean().item())
        return x + 1
"""

CLASS = """
import torch
from torch import nn

# Copied from library.base.Base
class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        print(x.mean().item())
        return x + 1
"""

OTHER = """
import torch
from torch import nn

# Copied from library.base.Base

class Net(nn.Module):
    def forward(self, x: torch.Tensor):
        # Copied from library.base.Base
        print(x.mean().item())
        return x + 1
"""


@pytest.mark.semantics("X2", "legal")
@pytest.mark.parametrize(
    ("text", "source"),
    [(METHOD, "library.base.Base.forward"), (CLASS, "library.base.Base"), (OTHER, None)],
    ids=["method", "class", "not above a definition"],
)
def test_the_source_of_a_copy_is_named(text: str, source: str | None) -> None:
    (finding,) = check_source(text, "model.py")
    assert finding.to_json()["copied_from"] == source
    assert line(finding).endswith(f"; a copy of {source}]" if source else "[fixable]")
