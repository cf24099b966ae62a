"""String parsing of torch.__version__ inside the traced function decides a static branch.

Expected: same result; one graph.
Sound rewrite: yes - evaluate once at import.
Seen in: https://github.com/kornia/kornia/pull/3802 (torch.__version__.partition / packaging.parse
on every call)
"""

import torch


def at_least(major, minor):
    core = torch.__version__.partition("+")[0]
    parts = core.split(".")
    return (int(parts[0]), int(parts[1])) >= (major, minor)


def act(x):
    if at_least(2, 4):
        return torch.nn.functional.silu(x)
    return x * torch.sigmoid(x)


def make():
    return act, [(torch.tensor([0.5, -0.5]),)]
