"""Original and mended program side by side: everything a user could see, call after call."""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import io
import logging
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from eval.namesakes import register
from graphmend.api import fix_source
from graphmend.findings import Result

Call = Callable[..., Any]


@dataclass
class Seen:
    """What one call showed: its value or exception, output, records, and what it wrote."""

    value: Any = None
    error: tuple[type[BaseException], str, tuple[Any, ...]] | None = None
    stdout: str = ""
    stderr: str = ""
    records: list[tuple[str, str, str, str]] = field(default_factory=list)
    warned: list[tuple[str, str]] = field(default_factory=list)
    arguments: Any = None
    state: Any = None
    gradients: Any = None


class _Handler(logging.Handler):
    def __init__(self) -> None:
        super().__init__(0)
        self.records: list[tuple[str, str, str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        if not record.name.startswith(("torch", "filelock")):
            text = record.getMessage()
            self.records.append((record.name, record.levelname, text, record.funcName))


@contextlib.contextmanager
def _listening() -> Iterator[_Handler]:
    root, handler = logging.getLogger(), _Handler()
    level, torch_level = root.level, logging.getLogger("torch").level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    logging.getLogger("torch").setLevel(logging.WARNING)
    try:
        yield handler
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        logging.getLogger("torch").setLevel(torch_level)


def observe(call: Call, owner: Any, arguments: tuple[Any, ...], gradients: bool = False) -> Seen:
    """Call once on a copy of the arguments and note all that shows."""
    arguments = copy.deepcopy(arguments)
    seen, out, err = Seen(), io.StringIO(), io.StringIO()
    with (
        _listening() as handler,
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        warnings.simplefilter("always")
        torch.manual_seed(0)
        try:
            seen.value = call(*arguments)
        except Exception as error:
            seen.error = (type(error), str(error), error.args)
    if gradients and seen.error is None:
        seen.gradients = _backward(seen.value, owner, arguments)
    seen.stdout, seen.stderr, seen.records = out.getvalue(), err.getvalue(), handler.records
    seen.warned = [(w.category.__name__, str(w.message)) for w in caught]
    seen.arguments = arguments
    if isinstance(owner, torch.nn.Module):
        seen.state = {k: v.clone() for k, v in owner.state_dict().items()}
        seen.state |= {k: v for k, v in vars(owner).items() if _is_plain(k, v)}
        seen.state = copy.deepcopy(seen.state)
    return seen


def _is_plain(name: str, value: Any) -> bool:
    return not name.startswith("_") and isinstance(value, int | str | list)


def _backward(value: Any, owner: Any, arguments: tuple[Any, ...]) -> list[Any]:
    leaves = [a for a in arguments if isinstance(a, torch.Tensor) and a.requires_grad]
    if isinstance(owner, torch.nn.Module):
        owner.zero_grad(set_to_none=True)
        leaves += list(owner.parameters())
    values = value if isinstance(value, tuple | list) else [value]
    with_gradient = [v.sum() for v in values if isinstance(v, torch.Tensor) and v.requires_grad]
    if with_gradient:
        torch.stack(with_gradient).sum().backward()
    return [leaf.grad for leaf in leaves]


def assert_same(original: Seen, mended: Seen) -> None:
    """Fail at the first part that differs; tensors are compared bit for bit."""
    for name in vars(original):
        _same(getattr(original, name), getattr(mended, name), name)


def _same(a: Any, b: Any, where: str) -> None:
    assert type(a) is type(b), f"{where}: {a!r} and {b!r}"
    if isinstance(a, torch.Tensor):
        for fact in ("dtype", "shape", "requires_grad"):
            assert getattr(a, fact) == getattr(b, fact), f"{where}: {fact}"
        assert a.stride() == b.stride(), f"{where}: strides"
        assert torch.equal(torch.nan_to_num(a, 12345.0), torch.nan_to_num(b, 12345.0)), where
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            _same(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), f"{where}: {a!r} and {b!r}"
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            _same(x, y, f"{where}[{i}]")
    elif isinstance(a, type):
        assert a.__qualname__ == b.__qualname__, where
    else:
        assert a == b or (a != a and b != b), f"{where}: {a!r} and {b!r}"


def load(text: str, path: Path) -> types.ModuleType:
    """Import a text from a file at `path`, as the module `program` on both sides.

    Its name shows: loggers are named by it.
    """
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("program", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    register(module)
    spec.loader.exec_module(module)
    return module


def mended(text: str, folder: Path, *, unsafe: bool = False) -> Result:
    """The text mended as a file of its own."""
    path = folder / "program.py"
    path.write_text(text)
    return fix_source(text, str(path), unsafe=unsafe)


def assert_mends(
    text: str, folder: Path, *, gradients: bool = False, fullgraph: bool = True
) -> str:
    """Mend a program and run both sides: eagerly, compiled at once, compiled call after call.

    The program defines `make() -> (callable, [argument tuples])`. Returns the mended text.
    """
    result = mended(text, folder)
    assert all(f.status == "fixed" for f in result.findings), result.findings
    assert result.findings, "nothing was found"
    original = _run(load(text, folder / "original.py"), lambda f: f, gradients, 2)
    for wrap, backend in (("eager", None), ("whole", "eager"), ("repeated", "aot_eager")):
        module = load(result.source, folder / f"mended_{wrap}.py")
        torch._dynamo.reset()
        whole = fullgraph and wrap == "whole"
        compiled = (
            (lambda f: f)
            if backend is None
            else lambda f, b=backend, w=whole: torch.compile(f, backend=b, fullgraph=w)
        )
        for before, after in zip(original, _run(module, compiled, gradients, 2), strict=True):
            assert_same(before, after)
    again = mended(result.source, folder)
    assert again.source == result.source
    return result.source


def _run(
    module: types.ModuleType, wrap: Callable[[Call], Call], gradients: bool, rounds: int
) -> list[Seen]:
    owner, inputs = module.make()
    call = wrap(owner)
    return [observe(call, owner, a, gradients) for a in inputs * rounds]
