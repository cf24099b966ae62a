"""A mended program beside the original: call after call, eagerly and compiled, with gradients."""

from __future__ import annotations

import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from graphmend.api import fix_source
from graphmend.findings import Result
from tests.sides import Seen, assert_same, load, observe

BACKENDS = ("eager", "aot_eager")


def mend(text: str, folder: Path, **options: Any) -> Result:
    """The text mended as the file `program.py` of a folder, among whatever else is there."""
    path = folder / "program.py"
    path.write_text(text)
    return fix_source(text, str(path), **options)


def keeps(
    text: str, folder: Path, *, captured: bool = True, gradients: bool = False, **options: Any
) -> str:
    """Mend all of a program and compare each of its calls; returns the mended text.

    The program defines `make() -> (callable, [argument tuples])`. Where it is not `captured`, the
    graph must break as that of the original does, and `fullgraph=True` must say so.
    """
    result = mend(text, folder, **options)
    assert result.findings and all(f.status == "fixed" for f in result.findings), result.findings
    agree(text, result.source, folder, captured=captured, gradients=gradients)
    return result.source


def agree(
    text: str,
    source: str,
    folder: Path,
    *,
    captured: bool = True,
    gradients: bool = False,
    backends: tuple[str, ...] = BACKENDS,
) -> None:
    """Compare a program with its mended text, as `keeps` does."""
    expected = list(_calls(load(text, folder / "original.py"), gradients))
    for backend in (None, *backends):
        options = {} if backend is None else {"backend": backend, "fullgraph": captured}
        module = load(source, folder / f"mended_{backend}.py")
        torch._dynamo.reset()
        for before, after in zip(expected, _calls(module, gradients, **options), strict=True):
            assert after[0].error is None or before[0].error is not None, after[0].error
            assert_same(before[0], after[0])
            assert before[1:] == after[1:], f"{backend}: {before[1:]} became {after[1:]}"
    if not captured:
        module = load(source, folder / "whole.py")
        torch._dynamo.reset()
        calls = _calls(module, gradients, backend="eager", fullgraph=True)
        assert any(_is_refused_whole(seen) for seen, *_ in calls)


def _is_refused_whole(seen: Seen) -> bool:
    error = seen.error
    return error is not None and issubclass(error[0], torch._dynamo.exc.TorchDynamoException)


Shown = tuple[Seen, list[tuple[int, int, bool]], float]


def _calls(module: types.ModuleType, gradients: bool, **options: Any) -> Iterator[Shown]:
    """What each call shows, what its results share with others, and the next random number."""
    owner, inputs = module.make()
    call = torch.compile(owner, **options) if options else owner
    for arguments in inputs:
        seen = observe(call, owner, arguments, gradients)
        following = torch.rand(1).item()
        yield seen, _shared(seen.value, [seen.arguments, _tensors(owner)]), following


def _tensors(owner: Any) -> list[torch.Tensor]:
    if not isinstance(owner, torch.nn.Module):
        return []
    return [*owner.parameters(), *owner.buffers(), *tree_leaves(vars(owner))]


def _shared(value: Any, others: Any) -> list[tuple[int, int, bool]]:
    """Which results share memory with which others, and whether they are the same objects."""
    pairs = []
    for i, result in enumerate(tree_leaves(value)):
        for j, other in enumerate(tree_leaves(others)):
            if isinstance(result, torch.Tensor) and isinstance(other, torch.Tensor):
                if _memory(result) == _memory(other):
                    pairs.append((i, j, result is other))
    return pairs


def _memory(tensor: torch.Tensor) -> int:
    return id(tensor) if tensor.is_sparse else tensor.untyped_storage().data_ptr()


def refused(text: str, folder: Path, code: str, reason: str, **options: Any) -> None:
    """All sites of a code are left as they are, one of them at least for that reason."""
    result = mend(text, folder, **options)
    found = [f for f in result.findings if f.code.startswith(code)]
    assert found and all(f.status == "refused" for f in found), result.findings
    assert any(reason in (f.reason or "") for f in found), found
    assert len(found) < len(result.findings) or result.source == text
