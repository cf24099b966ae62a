"""The hook with graphmend's own analyses and runtime: real modules, mended as they load."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from types import ModuleType

import pytest

import graphmend
from graphmend.findings import Status
from tests.hook.conftest import Write, load, python

torch = pytest.importorskip("torch")

MODEL = '''\
"""A model."""

import torch
from torch import nn


class Model(nn.Module):
    """With an effect and a guard."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        print("x")
        y = x * self.scale
        if y.isnan().any():
            raise ValueError(
                f"not a number in {tuple(y.shape)}"
            )
        return y


def load_data(path):
    print("reading", path)
    return path
'''


@pytest.fixture
def model(write: Write) -> ModuleType:
    """MODEL, imported with the hook on."""
    write({"package/__init__.py": "", "package/model.py": MODEL})
    graphmend.install(["package"])
    return load("package.model")


def line_of(part: str) -> int:
    """The line of MODEL on which `part` begins."""
    return MODEL[: MODEL.index(part)].count("\n") + 1


def test_what_is_not_traced_stays_as_it_is(model: ModuleType) -> None:
    lines = {f.line for f in graphmend.status().mended["package.model"]}
    assert line_of('print("reading"') not in lines


def test_an_effect_is_mended(model: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    status = graphmend.status()
    assert status.failed == {}
    sites = {f.line: f for f in status.mended["package.model"]}
    assert sites[line_of('print("x")')].status is Status.FIXED
    assert torch.equal(model.Model()(torch.ones(2)), torch.ones(2))
    assert capsys.readouterr().out == "x\n"


def test_a_guard_is_mended_and_raises_where_it_stood(model: ModuleType) -> None:
    assert line_of("if y.isnan") in {f.line for f in graphmend.status().mended["package.model"]}
    with pytest.raises(ValueError, match=r"^not a number in \(2,\)$") as caught:
        model.Model()(torch.tensor([1.0, float("nan")]))
    frames = traceback.extract_tb(caught.value.__traceback__)
    own = [(f.lineno, f.line) for f in frames if f.filename == model.__file__]
    assert own[-1] == (line_of("raise ValueError"), "raise ValueError(")
    assert own[0][0] == line_of("if y.isnan")


def test_the_source_shown_is_that_of_the_file(model: ModuleType) -> None:
    start, end = MODEL.index("    def forward"), MODEL.index("\n\ndef load_data")
    assert inspect.getsource(model.Model.forward) == MODEL[start:end]
    assert inspect.getsource(model.load_data) == MODEL[end + 2 :]


def test_no_graph_break_is_left(model: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    compiled = torch.compile(model.Model(), fullgraph=True, backend="eager")
    assert torch.equal(compiled(torch.ones(2)), torch.ones(2))
    assert capsys.readouterr().out == "x\n"
    assert "deferral" in str(graphmend.status())


def test_remote_code_is_mended(write: Write) -> None:
    """A module that is loaded from a path under a made-up name, as transformers loads hub code."""
    path = write({"cache/abc123/model.py": MODEL}) / "cache/abc123/model.py"
    graphmend.install(["remote_modules"])
    name = "remote_modules.owner.repo-name.abc123.model"
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert line_of('print("x")') in {f.line for f in graphmend.status().mended[name]}


def test_a_program_run_by_graphmend(write: Write) -> None:
    script = MODEL + (
        "\n\nif __name__ == '__main__':\n"
        "    import graphmend\n"
        "    print(Model()(torch.ones(1)).item(), len(graphmend.status().mended['__main__']))\n"
    )
    ran = python("-m", "graphmend", "run", "script.py", cwd=write({"script.py": script}))
    assert (ran.returncode, ran.stdout) == (0, "x\n1.0 2\n"), ran.stderr
