"""W1 to W3, W6, W7, W15: what a branch chooses between, and sides that must not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.semantics.alike import BACKENDS, agree, keeps, mend, refused
from tests.semantics.lines import named

CAPTURED = {
    "equal layouts, dense in any order of dimensions (W1)": """
import torch

def entry(x: torch.Tensor):
    y = x.t() * 2
    if x.sum() > 0:
        y = y + 1
    z = (y - 1 if y.max() > 3 else y * 3).view(-1, order := 2) if y.is_contiguous() else y
    return y, z, order if y.is_contiguous() else 0

def make():
    x = torch.arange(4.0).view(2, 2)
    return entry, [(x,), (-x,), (x.t(),), (x.half(),)]
""",
    "numbers beside tensors of every type (W2)": """
import torch

def entry(x: torch.Tensor, other: torch.Tensor):
    scale = 2 if other.max() > 1 else 5
    y = x * scale
    power = 2.5 if other.max() > 1 else -0.5
    total = x.sum() * power
    z = y.double() ** power
    return y, total, z

def make():
    one, three = torch.ones(2), torch.full((2,), 3.0)
    types = (torch.int16, torch.float16, torch.float64, torch.bool)
    return entry, [(one.to(t), other) for t in types for other in (one, three)]
""",
    "the same structures, None among them (W3)": """
import torch
from dataclasses import dataclass

@dataclass
class Output:
    value: torch.Tensor
    more: object = None

def entry(x: torch.Tensor):
    y = x * 1
    if y.max() > 1:
        state = (y + 1, None, [y * 2])
    else:
        state = (y - 1, None, [y * 3])
    value, nothing, (item,) = state
    output = Output(value, nothing)
    return output.value, output.more, {"item": item}

def make():
    return entry, [(torch.ones(2),), (torch.full((2,), 3.0),)]
""",
    "an assert and a guard on the side run only where it is taken (W6)": """
import torch

def entry(x: torch.Tensor):
    y = x * 1
    if x.sum() > 0:
        assert (x < 9).all(), f"{x.max().item()} is large"
        if torch.isinf(x).any():
            raise OverflowError("infinite")
        y = y - 1
    return y * 2

def make():
    return entry, [(torch.tensor([v, 1.0]),) for v in (2.0, -9.0, 9.0, float("inf"), -float("inf"))]
""",
    "a parameter on both sides, read and not handed out (W15)": """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor):
        if x.max() > 1:
            y = x * self.w
        else:
            y = x - self.w
        return y * 1

def make():
    return Net(), [(torch.ones(2),), (torch.full((2,), 3.0),)]
""",
}


@pytest.mark.parametrize("name", named(CAPTURED, "legal"))
def test_a_selection_gives_what_the_branch_gives(name: str, tmp_path: Path) -> None:
    keeps(CAPTURED[name], tmp_path, gradients="W15" in name)


_ONE_OR_OTHER = """
import torch

def entry(x: torch.Tensor, other: torch.Tensor):
    y = x * 1
    if x.max() > 1:
        y = other.OPERATION
    return y.view(-1) if y.is_contiguous() else y

def make():
    one, three = torch.ones(4, 2), torch.full((4, 2), 3.0)
    return entry, [(x, OTHER) for x in INPUTS]
"""
KEPT = {
    "another shape that broadcasts (W1)": ("relu()", "torch.ones(1, 1)"),
    "another rank (W1)": ("sum()", "torch.ones(4, 2)"),
    "another dtype (W1)": ("relu()", "torch.ones(4, 2, dtype=torch.float64)"),
    "another order of strides (W1)": ("t().contiguous().t()", "torch.ones(4, 2)"),
    "an overlapping view (W1)": ("relu()[:1].expand(4, 2)", "torch.ones(4, 2)"),
    "a view of an argument (W9)": ("detach()", "torch.ones(4, 2)"),
    "a size that does not fit where it is not taken (W6)": ("view(2, 2)", "torch.ones(5, 2)"),
    "a product that does not fit where it is not taken (W6)": ("mm(x)", "torch.ones(5, 2)"),
}


@pytest.mark.parametrize("name", named(KEPT, "refused"))
def test_where_values_differ_the_branch_stays(name: str, tmp_path: Path) -> None:
    operation, other = KEPT[name]
    text = _ONE_OR_OTHER.replace("OPERATION", operation).replace("OTHER", other)
    text = text.replace("INPUTS", "[one]" if "not taken" in name else "[one, three]")
    keeps(text, tmp_path, captured=False)


@pytest.mark.semantics("W2", "refused")
def test_numbers_of_two_types_stay_numbers(tmp_path: Path) -> None:
    text = """
import torch

def entry(x: torch.Tensor):
    scale = 2 if x.max() > 1 else 0.5
    y = x * scale
    return y + 1

def make():
    return entry, [(torch.tensor([v]),) for v in (0, 3)]
"""
    keeps(text, tmp_path, captured=False)


@pytest.mark.semantics("W6", "refused")
def test_a_remainder_of_integers_is_not_taken_by_zero(tmp_path: Path) -> None:
    text = """
import torch

def entry(i: torch.Tensor):
    y = i + 1
    if (i != 0).all():
        y = 7 % i
    return y * 2

def make():
    return entry, [(torch.tensor([1, 2]),), (torch.tensor([0, 2]),)]
"""
    keeps(text, tmp_path, captured=False)


@pytest.mark.semantics("W1", "refused")
def test_two_expanded_tensors_stay_expanded(tmp_path: Path) -> None:
    text = """
import torch

def entry(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):
    if x.max() > 1:
        y = (a * 2).expand(4, 3)
    else:
        y = (b * 3).expand(4, 3)
    return y

def make():
    one, three, row = torch.ones(2), torch.full((2,), 3.0), torch.arange(3.0)
    return entry, [(x, row, -row) for x in (one, three)]
"""
    keeps(text, tmp_path, captured=False)


_SPECIAL = """
import torch

class Tagged(torch.Tensor):
    pass

def entry(x: torch.Tensor):
    y = MADE
    y = y + y
    if x.sum() > 0:
        y = y * 2
    return SHOWN

def make():
    return entry, [(torch.ones(2, 2),), (-torch.ones(2, 2),)]
"""
SPECIAL = {
    "a subclass (W15)": ("x.as_subclass(Tagged)", "y.as_subclass(torch.Tensor), type(y).__name__"),
    "a sparse tensor (W15)": ("x.to_sparse()", "y.to_dense(), y.is_sparse"),
    "a complex tensor (W15)": ("x * (1 + 1j)", "y"),
    "a conjugated view (W15)": ("(x * (1 + 1j)).conj()", "y.resolve_conj()"),
}


@pytest.mark.parametrize("name", named(SPECIAL, "refused"))
def test_special_tensors_are_what_they_were(name: str, tmp_path: Path) -> None:
    made, shown = SPECIAL[name]
    text = _SPECIAL.replace("MADE", made).replace("SHOWN", shown)
    source = mend(text, tmp_path).source
    assert "select(" in source
    # aot_eager itself does not compile subclasses.
    backends = BACKENDS[:1] if "subclass" in name else BACKENDS
    agree(text, source, tmp_path, captured=False, backends=backends)


@pytest.mark.semantics("W1", "refused")
def test_sizes_that_depend_on_data_keep_the_branch(tmp_path: Path) -> None:
    text = """
import torch

def entry(x: torch.Tensor):
    y = x[x > 0]
    if y.sum() > 3:
        y = y + 1
    return y * 2

def make():
    return entry, [(torch.tensor(v),) for v in ([1.0, -2.0], [1.0, 5.0], [-1.0, -1.0])]
"""
    result = mend(text, tmp_path)
    assert {f.code: f.status for f in result.findings} == {"GM401": "refused", "GM101": "fixed"}
    agree(text, result.source, tmp_path, captured=False)


_NESTED = """
import torch

def entry(x: torch.Tensor):
    y = torch.nested.nested_tensor_from_jagged(x, torch.tensor([0, 1, 2])) * 2
    if x.sum() > 0:
        y = y * 3
    return y.values()

def make():
    return entry, [(torch.ones(2, 2),), (-torch.ones(2, 2),)]
"""
_QUANTIZED = """
import warnings
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    Q = torch.quantize_per_tensor(torch.arange(4.0), 0.5, 0, torch.qint8)

def entry(x: torch.Tensor):
    y = Q.view(-1)
    if x.sum() > 0:
        y = y.flip(0)
    return y.dequantize()

def make():
    return entry, [(torch.ones(2),), (-torch.ones(2),)]
"""


@pytest.mark.semantics("W15", "refused")
@pytest.mark.parametrize("text", [_NESTED, _QUANTIZED], ids=["nested", "quantized"])
def test_nested_and_quantized_tensors_are_what_they_were(text: str, tmp_path: Path) -> None:
    source = mend(text, tmp_path).source
    assert "select(" in source
    agree(text, source, tmp_path, captured=False, backends=BACKENDS[:1])


REFUSED = {
    "None beside a tensor, handed out (W3)": ("return x * 2 if p else None", "leaves None"),
    "tuples of other lengths, handed out (W3)": (
        "if p:\n        return x * 2, x + 1\n    return x * 2,",
        "sequences of different lengths",
    ),
    "a number and a tensor, handed out (W2)": ("return x.sum() if p else 0", "Python values"),
    "a shape that only its side may ask for (W6)": (
        "y = x * 1\n    if p:\n        y = x.unflatten(0, (2, x.sum().int().item()))\n    return y",
        "still breaks the graph",
    ),
    "an index (W6)": ("y = x * 1\n    if p:\n        y = x[i]\n    return y * 2", "fail on data"),
    "an embedding (W6)": (
        "y = x * 1\n    if p:\n        y = torch.nn.functional.embedding(i, x)\n    return y * 2",
        "fail on data",
    ),
    "a factorisation (W6)": (
        "y = x * 1\n    if p:\n        y = torch.linalg.cholesky(x)\n    return y * 2",
        "fail on data",
    ),
    "one_hot (W6)": (
        "y = i * 1\n    if p:\n        y = torch.nn.functional.one_hot(i, 3)\n    return y * 2",
        "fail on data",
    ),
    "an exception between statements (W6)": (
        "y = x * 1\n    if p:\n        y = y + 1\n        if x.dim() == 3:\n"
        "            raise ValueError\n        y = y * 3\n    return y * 2",
        "raises",
    ),
    "noise on one side (W7)": (
        "y = x * 1\n    if p:\n        y = y + torch.randn_like(y)\n    return y",
        "random",
    ),
    "noise on both sides (W7)": (
        "if p:\n        y = torch.rand(2)\n    else:\n        y = torch.randn(2)\n    return y * x",
        "random",
    ),
    "dropout as a module on a side (W7)": (
        "y = x * 1\n    if p:\n        y = torch.nn.Dropout(0.5)(y)\n    return y",
        "random",
    ),
    "a sample in place (W7)": (
        "y = x * 1\n    if p:\n        y = torch.empty_like(y).uniform_()\n    return y",
        "random",
    ),
    "a shuffle of Python's own generator (W7)": (
        "y = x * 1\n    if p:\n        y = y * random.random()\n    return y",
        "depends on when it runs",
    ),
}


@pytest.mark.parametrize("name", named(REFUSED, "refused"))
def test_a_side_that_must_not_run_is_left(name: str, tmp_path: Path) -> None:
    statements, reason = REFUSED[name]
    head = "import random\nimport torch\n\ndef entry(x: torch.Tensor, i: torch.Tensor):\n"
    text = f"{head}    p = x.max() > 1\n    {statements}\n"
    refused(text, tmp_path, "GM101", reason)


@pytest.mark.semantics("W7", "refused")
def test_layers_that_are_left_out_at_random(tmp_path: Path) -> None:
    text = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)) for _ in "abc")

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            chance = torch.rand([])
            if self.training and chance < 0.5:
                continue
            x = layer(x)
        return x

def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(1, 2),), (-torch.ones(1, 2),)]
"""
    result = mend(text, tmp_path)
    assert [(f.code, f.status) for f in result.findings] == [("GM101", "refused")]
    assert result.source == text
