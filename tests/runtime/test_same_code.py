"""Two files with equal functions: what is compiled for one is not what the other runs."""

import importlib.util

import torch

FUNCTIONS = """
import torch
from graphmend.runtime import select


def helper(y):
    return {helper}


def entry(x):
    y = x * 1

    def then(y):
        return helper(y)

    return select(x.max() > 1, then, lambda y: y, y)
"""


def _load(folder, name, helper):
    path = folder / f"{name}.py"
    path.write_text(FUNCTIONS.format(helper=helper))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.entry


def test_a_side_calls_the_helpers_of_its_own_file(tmp_path):
    torch._dynamo.reset()
    # A view that overlaps itself cannot be joined: the branch stays, and its sides are compiled.
    entries = [
        _load(tmp_path, name, helper)
        for name, helper in (("one", "(y + 1)[:1].expand(2)"), ("two", "(y * 100)[:1].expand(2)"))
    ]
    for entry in entries:
        compiled = torch.compile(entry, backend="eager")
        for value in (1.0, 3.0):
            x = torch.full((2,), value)
            assert torch.equal(compiled(x), entry(x))
