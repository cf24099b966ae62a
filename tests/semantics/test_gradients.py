"""W4, W5, W13: gradients of mended programs are those of the original, None and NaN included.

Every rule that mends is here in training, in each form that its fixes take. Where a rewrite is
sound only without gradients, the branch of the original runs when gradients are on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.semantics.alike import keeps, mend
from tests.semantics.lines import named
from tests.sides import load

_HEAD = """
import functools
import logging
import warnings
import torch
from torch import nn

logger = logging.getLogger("train")

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([0.5, 2.0]))
        self.unused = nn.Parameter(torch.ones(2))
        self.rare = nn.Parameter(torch.tensor([3.0, 1.0]))

"""
_MAKE = """
def make():
    values = ([1.0, 2.0], [-1.0, 0.5], [0.0, 0.0], [1.0, float("inf")], [1e3, 1.0])
    return Net(), [(torch.tensor(v, requires_grad=True),) for v in values]
"""

RULES = {
    "GM101": """
    def forward(self, x):
        h = x * self.w
        if h.sum() > 0:
            h = h.clamp(max=100.0)
        return (h * self.w).sum()
""",
    "GM201": """
    def forward(self, x):
        h = x * self.w
        print("mean", h.sqrt().mean().item())
        return (h * self.w).sum()
""",
    "GM202": """
    def forward(self, x):
        h = x * self.w
        logger.info("root %.3f of %s", h.sqrt().mean().item(), (1 / h).detach())
        return (h * self.w).sum()
""",
    "GM203": """
    def forward(self, x):
        h = x * self.w
        if h.log().isnan().any():
            warnings.warn(f"no logarithm at {h.min().item():.2f}")
        return (h * self.w).sum()
""",
    "GM204": """
    def forward(self, x):
        h = x * self.w
        if h.shape[0] == 2:
            warn_once("two")
        return (h * self.w).sum()

@functools.lru_cache(None)
def warn_once(message):
    logger.warning(message)
""",
    "GM301": """
    def forward(self, x):
        h = x * self.w
        if (h.sqrt() > 20).any():
            raise ValueError(f"large: {h.max().item()}")
        return (h * self.w).sum()
""",
    "GM302": """
    def forward(self, x):
        h = x * self.w
        assert not (h.sqrt() > 20).any(), f"large: {h.max().item()}"
        return (h * self.w).sum()
""",
    "GM303": """
    def forward(self, x):
        h = x * self.w
        require(bool((h.sqrt() < 20).any()), "large")
        return (h * self.w).sum()

def require(condition, message):
    if not condition:
        raise ValueError(message)
""",
}


# TorchDynamo hides this one after a graph break, but not where warnings are errors.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")


@pytest.mark.semantics("D11", "legal")
@pytest.mark.semantics("W13", "legal")
@pytest.mark.parametrize("code", RULES)
def test_each_rule_in_training(code: str, tmp_path: Path) -> None:
    text = _HEAD + RULES[code] + _MAKE
    source = keeps(text, tmp_path, gradients=True)
    assert code in {f.code for f in mend(text, tmp_path).findings} and "graphmend" in source


FORMS: dict[str, tuple[dict[str, Any], str]] = {
    "a guard in the graph": (
        {"trap": "async"},
        """
    def forward(self, x):
        h = x * self.w
        if (h.sqrt() > 20).any():
            raise ValueError("large")
        assert not torch.isinf(h.log()).any(), "zero"
        return (h * self.w).sum()
""",
    ),
    "a plain guard in the graph": (
        {"trap": "async", "plain": True, "unsafe": True},
        """
    def forward(self, x):
        h = x * self.w
        if (h.sqrt() > 1e6).any():
            raise RuntimeError("large")
        return (h * self.w).sum()
""",
    ),
    "a plain selection": (
        {"plain": True},
        """
    def forward(self, x: torch.Tensor):
        h = x * 2
        if not torch.isfinite(h).all():
            h = torch.nan_to_num(h, posinf=5.0)
        return (h * self.w).sum()
""",
    ),
}


@pytest.mark.semantics("T7", "legal")
@pytest.mark.semantics("X3", "legal")
@pytest.mark.parametrize("form", FORMS)
def test_other_forms_in_training(form: str, tmp_path: Path) -> None:
    options, body = FORMS[form]
    source = keeps(_HEAD + body + _MAKE, tmp_path, gradients=True, **options)
    assert ("graphmend" in source) != ("plain" in options)


LEGAL = {
    "an infinite or NaN derivative on the side that is not taken (W4)": """
    def forward(self, x):
        h = x * self.w
        if (h > 0).all():
            y = h.sqrt() + h.log() + 1 / h + h**0.5 + x / x.norm()
        else:
            y = h * 2
        z = h.acos() if h.abs().max() < 1 else h.atan()
        return (y * self.w + z).sum()
""",
    "what came before is used by one side alone (W4)": """
    def forward(self, x):
        h = x * self.w
        root = h.sqrt()
        y = root * 2 if (h > 0).all() else h * self.w
        return y.sum()
""",
    "zero times infinity, in values and in gradients (W5)": """
    def forward(self, x):
        h = self.w * 3
        if torch.isfinite(x).all():
            y = h * x
        else:
            y = h * 2 + x
        z = (h * x).exp() if x.max() < 10 else h + x
        return (y + z).sum()
""",
    "the same parameters on both sides, some in none (W13)": """
    def forward(self, x):
        h = x * 2
        if h.sum() > 0:
            y = h * self.w + self.rare
        else:
            y = self.rare - h / self.w
        return y.sum()
""",
}


@pytest.mark.parametrize("name", named(LEGAL, "legal"))
def test_gradients_of_a_selection(name: str, tmp_path: Path) -> None:
    keeps(_HEAD + LEGAL[name] + _MAKE, tmp_path, gradients=True)


# Sound without gradients only: the values would be the same, the gradients would not.
WITHOUT = {
    "a parameter on one side (W13)": """
    def forward(self, x):
        h = x * self.w
        if h.sum() > 0:
            h = h * self.rare
        return (h + 1).sum()
""",
    "a parameter on each side (W13)": """
    def forward(self, x):
        y = x * self.rare if x.sum() > 0 else x - self.w
        return (y + 1).sum()
""",
    "what one side alone uses is returned too (W4)": """
    def forward(self, x):
        h = x * self.w
        root = h.sqrt()
        y = root * 2 if (h > 3).all() else h * self.w
        return y.sum(), root * 2
""",
    "one side without gradients (W5)": """
    def forward(self, x):
        h = x * self.w
        if h.sum() > 0:
            h = h.detach() * 2
        return (h + 1).sum()
""",
}


@pytest.mark.parametrize("name", named(WITHOUT, "refused"))
def test_with_gradients_the_branch_stays(name: str, tmp_path: Path) -> None:
    make = _MAKE.replace(', [0.0, 0.0], [1.0, float("inf")], [1e3, 1.0]', ", [4.0, 3.0]")
    keeps(_HEAD + WITHOUT[name] + make, tmp_path, gradients=True, captured=False)


@pytest.mark.parametrize("name", named(WITHOUT, "legal"))
def test_without_gradients_it_is_a_selection(name: str, tmp_path: Path) -> None:
    text = _HEAD + WITHOUT[name].replace("    def", "    @torch.no_grad()\n    def") + _MAKE
    keeps(text.replace("requires_grad=True", "requires_grad=False"), tmp_path)


@pytest.mark.semantics("W13", "refused")
def test_an_optimiser_sees_no_gradient_where_there_was_none(tmp_path: Path) -> None:
    """Weight decay moves a parameter whose gradient is zero, and leaves one that has none."""
    text = _HEAD + WITHOUT["a parameter on one side (W13)"]
    stepped = []
    for name, source in (("original", text), ("mended", mend(text, tmp_path).source)):
        net = load(source, tmp_path / f"{name}.py").Net()
        run = net if name == "original" else torch.compile(net, backend="aot_eager")
        decay = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=0.5)
        for values in ([-3.0, 0.5], [1.0, 2.0], [-3.0, 0.1]):
            decay.zero_grad()
            run(torch.tensor(values)).backward()
            decay.step()
            stepped.append((name, [p.tolist() for p in net.parameters()]))
    assert [p for name, p in stepped if name == "mended"] == [p for _, p in stepped[:3]]
    assert stepped[0][1][2] == [3.0, 1.0] != stepped[1][1][2]
