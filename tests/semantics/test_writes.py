"""W8 to W12, W14: what branches write and hand out, how they leave, and what encloses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.semantics.alike import agree, keeps, mend, refused
from tests.semantics.lines import named

_NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("level", torch.ones(2))
        self.original = self.level
        self.table = {"last": torch.zeros(2)}
        self.count = torch.zeros(())
        self.last = torch.zeros(2)

    def forward(self, x: torch.Tensor):
BODY
def make():
    one, three = torch.ones(2), torch.full((2,), 3.0)
    return Net(), [(one,), (three,), (three * 2,), (one,)]
"""
WRITES = {
    "attributes, once (W8)": """
        y = x * 2
        if x.max() > 1:
            self.last = y + 1
            self.last = self.last * 2
            self.count = self.last.sum()
        else:
            self.last = y * 3
        return y + self.last + self.count
""",
    "a buffer that shares its tensor with an attribute is bound again (W8)": """
        if x.max() > 2:
            self.register_buffer("level", self.original * x.sum(), persistent=False)
        else:
            self.register_buffer("level", self.original, persistent=False)
        return x * self.level + self.original
""",
    "in place, out= and copy_ without gradients (W8)": """
        with torch.no_grad():
            y = x * 2
            if x.max() > 2:
                self.level.copy_(y)
                self.level.mul_(3)
                torch.add(self.count, 1, out=self.count)
            else:
                self.count.sub_(1)
        return x * self.level + self.original + self.count
""",
    "an in-place update of a fresh value (W9)": """
        y = x * 2
        y = y + 1 if x.max() > 1 else y - 1
        z = y * 2
        z.add_(1)
        return y, z
""",
    "hoisted names, the predicate and later code keep theirs (W14)": """
        limit, scale = self.count + 2, self.count + 1
        if x.max() > limit:
            limit = x.abs().max()
            scale = limit * 2
            x = x / limit
        else:
            x = x * limit + scale
        then, y = x * scale, x + limit
        if y.max() > limit:
            then = then + y
        return then, y, scale, limit * 1.0
""",
}


@pytest.mark.parametrize("name", named(WRITES, "legal"))
def test_writes_are_those_of_the_branch(name: str, tmp_path: Path) -> None:
    keeps(_NET.replace("BODY", WRITES[name]), tmp_path)


@pytest.mark.semantics("W8", "refused")
def test_items_that_a_side_stores_are_left(tmp_path: Path) -> None:
    body = """
        if x.max() > 1:
            self.table["last"] = x * 2
        return x + self.table["last"]
"""
    refused(_NET.replace("BODY", body), tmp_path, "GM101", "changes an object")


@pytest.mark.semantics("W9", "refused")
def test_callers_write_to_what_was_handed_out(tmp_path: Path) -> None:
    """The result of a side is the argument itself, and a caller adds to it in place."""
    text = """
import torch

def masked(x: torch.Tensor):
    m = torch.isinf(x)
    if m.any():
        x = x.masked_fill(m, 0)
    return x

def entry(x: torch.Tensor):
    out = masked(x)
    out += 1
    return out * 2

def make():
    return entry, [(torch.ones(2),), (torch.tensor([1.0, float("inf")]),)]
"""
    keeps(text, tmp_path, captured=False)


HANDED = {
    "a branch (W9)": "    if x.isnan().any():\n        x = x.nan_to_num()\n    return x\n",
    "a conditional expression (W9)": "    return x.nan_to_num() if x.isnan().any() else x\n",
    "an early return (W9)": "    if not x.isnan().any():\n        return x\n    return x * 2\n",
    "written in place afterwards (W9)": (
        "    y = x * 1\n    z = y\n    if x.isnan().any():\n        y = x * 2\n"
        "    y.add_(1)\n    return y, z\n"
    ),
}


@pytest.mark.parametrize("name", named(HANDED, "refused"))
def test_what_may_be_handed_out_is_left(name: str, tmp_path: Path) -> None:
    text = "import torch\n\ndef entry(x: torch.Tensor):\n" + HANDED[name]
    refused(text, tmp_path, "GM101", "")


FLOW = {
    "early returns in a chain, an update without else, nests (W10)": """
def entry(x: torch.Tensor, flag: bool):
    y = x * 2
    if y.sum() > 20:
        return y - 20
    if y.sum() > 10:
        if flag:
            y = y / 2
        if y.max() > 8:
            y = y - 1
        else:
            z = y.sum()
            y = y + z
        return y
    elif y.sum() > 0:
        return y + 1
    y = y * y
    return y - 3

def make():
    values = (9.0, 6.0, 3.0, 1.0, -1.0)
    return entry, [(torch.tensor([v, 2.0]), flag) for v in values for flag in (True, False)]
""",
    "a name that one side alone binds, del, a closure made before (W10)": """
def entry(x: torch.Tensor, flag: bool):
    y, z = x * 1, x + 2
    add = lambda t: t + x
    if x.sum() > 4:
        extra = z.mean()
        y = add(y) * extra
    del z
    return y

def make():
    return entry, [(torch.tensor([v, 2.0]), True) for v in (9.0, 1.0)]
""",
    "branches in a loop that continues and breaks on static values (W10)": """
def entry(x: torch.Tensor, flag: bool):
    for i in range(4):
        if i == 1:
            continue
        if i == 3 and flag:
            break
        x = x * 2
        if x.max() > 5:
            x = x - i
    else:
        x = x + 100
    return x

def make():
    return entry, [(torch.tensor([v, 2.0]), flag) for v in (9.0, 0.1) for flag in (True, False)]
""",
}


@pytest.mark.parametrize("name", named(FLOW, "legal"))
def test_control_flow_is_that_of_the_branch(name: str, tmp_path: Path) -> None:
    keeps("import torch\n" + FLOW[name], tmp_path)


LEFT = {
    "break (W10)": (
        "    for _ in range(3):\n        x = x * 2\n"
        "        if x.max() > 4:\n            break\n    return x\n",
        "leaves a loop",
    ),
    "continue (W10)": (
        "    for _ in range(3):\n        if x.max() > 4:\n"
        "            continue\n        x = x * 2\n    return x\n",
        "leaves a loop",
    ),
    "return in a loop (W10)": (
        "    for _ in range(3):\n        x = x * 2\n"
        "        if x.max() > 4:\n            return x\n    return x\n",
        "returns from inside a block",
    ),
    "a name that may be unbound (W10)": (
        "    if x.max() > 4:\n        y = x + 1\n    return y\n",
        "may be unbound",
    ),
    "a name that one side deletes (W10)": (
        "    y = x * 1\n    if x.max() > 4:\n        del y\n        y = x\n    return y * 2\n",
        "delet",
    ),
    "a name of the module (W10)": (
        "    global STATE\n    if x.max() > 4:\n        STATE = x\n    return x * 2\n",
        "belongs to another scope",
    ),
    "a name of the function around (W10)": (
        "    y = x * 1\n    def inner():\n        nonlocal y\n        if x.max() > 4:\n"
        "            y = x + 1\n    inner()\n    return y\n",
        "belongs to another scope",
    ),
    "a name that a closure reads (W10)": (
        "    y = x * 1\n    add = lambda z: z + y\n    if x.max() > 4:\n        y = x + 1\n"
        "    return add(x)\n",
        "inside this one",
    ),
    "a call that was not read (W11)": (
        "    y = x * 1\n    if x.max() > 4:\n        y = unknown(y)\n    return y\n",
        "assumes that `unknown(..)` only computes its result",
    ),
    "a handler on the side (W12)": (
        "    y = x * 1\n    if x.max() > 4:\n        try:\n            y = x.view(3)\n"
        "        except RuntimeError:\n            y = x + 1\n    return y * 1\n",
        "handles exceptions",
    ),
    "names that the function looks at (W14)": (
        "    y = x * 1\n    if x.max() > 4:\n        y = y + 1\n    return y * len(locals())\n",
        "would see the names",
    ),
}
_HELPERS = """
import torch
from elsewhere import unknown

def entry(x: torch.Tensor):
"""


@pytest.mark.parametrize("name", named(LEFT, "refused"))
def test_other_control_flow_and_calls_are_left(name: str, tmp_path: Path) -> None:
    statements, reason = LEFT[name]
    refused(_HELPERS + statements, tmp_path, "GM101", reason)


SEEN_WHILE_TRACED = {
    "a helper that counts (W11)": """
def helper(y):
    COUNTS.append(1)
    return y + len(COUNTS)
""",
    "a helper that raises (W11)": """
def helper(y):
    if y.shape[0] == 2:
        raise ValueError("two")
    return y + 1
""",
    "a helper that reads a number (W11)": """
def helper(y):
    return y[: int(y.sum().item()) % 2 + 1].expand(2) * 1
""",
    "a helper that gives a view of the argument (W9)": """
def helper(y):
    return ARGUMENT.view(-1)
""",
}


@pytest.mark.parametrize("name", named(SEEN_WHILE_TRACED, "refused"))
def test_what_is_seen_while_tracing_keeps_the_branch(name: str, tmp_path: Path) -> None:
    text = f"""
import torch

COUNTS = []
ARGUMENT = torch.ones(2)
{SEEN_WHILE_TRACED[name]}
def entry(x: torch.Tensor):
    y = x * 1
    if x.max() > 1:
        y = helper(y)
    return y

def make():
    COUNTS.clear()
    one, three = torch.ones(2), torch.full((2,), 3.0)
    return entry, [(one,), ({"one" if "raises" in name else "three"},), (one,)]
"""
    source = mend(text, tmp_path).source
    assert "select(" in source
    agree(text, source, tmp_path, captured=False)


@pytest.mark.semantics("W11", "legal")
def test_a_side_calls_helpers_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "helpers_of_w11.py").write_text(
        "import torch\n\ndef scaled(y, by=2.0):\n    return torch.tanh(y) * by\n"
    )
    text = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import torch
from helpers_of_w11 import scaled

def softened(y):
    return scaled(y) + scaled(y, by=0.5)

def entry(x: torch.Tensor):
    y = x * 1
    if x.max() > 1:
        y = softened(y)
    return y

def make():
    return entry, [(torch.ones(2),), (torch.full((2,), 3.0),)]
"""
    keeps(text, tmp_path)


ENCLOSED = {
    "autocast, no_grad and a default dtype (W12)": """
import torch

def entry(x: torch.Tensor):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x
        if y.max() > 3:
            y = y @ x
        k = (x @ x).float() if x.max() > 3 else (x @ x.t()).float()
    with torch.no_grad():
        h = x * 2
        if h.sum() > 9:
            h = h * 2
    z = x * 3
    if z.max() > 3:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            z = (x @ x).float()
    return y, z, k * 1, h

def make():
    eyes = (torch.eye(2), torch.full((2, 2), 3.0))
    return entry, [(x.requires_grad_(),) for x in eyes]
""",
    "a device and a try around the branch (W12)": """
import torch

def entry(x: torch.Tensor):
    try:
        with torch.device("meta"):
            y = x * 1
            if x.max() > 1:
                y = y + 2
            shape = torch.empty(2, 3).device
        y = y.view(3)
    except RuntimeError:
        y = x.sum()
    finally:
        y = y * 2
    return y, str(shape)

def make():
    return entry, [(torch.ones(2),), (torch.full((2,), 3.0),)]
""",
}


@pytest.mark.parametrize("name", named(ENCLOSED, "legal"))
def test_what_encloses_a_branch_encloses_its_sides(name: str, tmp_path: Path) -> None:
    # TorchDynamo breaks the graph at `torch.device` itself.
    keeps(ENCLOSED[name], tmp_path, gradients=True, captured="device" not in name)
