"""How many placeholder tokens a model wants for images and sounds: asked of the model itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from eval.zoo.facts import Facts

if TYPE_CHECKING:
    import torch

MODALITIES = ("image", "video", "audio")
_METHOD = "get_{}_features"
_MASK = "get_placeholder_mask"


@contextlib.contextmanager
def watched(model: Any) -> Iterator[dict[str, int]]:
    """The number of feature rows a modality that the model makes meanwhile.

    What is handed to the function that places the features counts most; otherwise what the
    functions that make them return.
    """
    rows: dict[str, int] = {}
    placed: dict[str, int] = {}
    undo = []
    for module in model.modules():
        for modality in MODALITIES:
            undo += _wrap(module, _METHOD.format(modality), _returned(rows, modality))
        undo += _wrap(module, _MASK, _handed(placed))
    try:
        yield rows
    finally:
        rows.update(placed)
        for module, name in undo:
            delattr(module, name)


def _wrap(module: Any, name: str, note: Any) -> list[tuple[Any, str]]:
    if not hasattr(type(module), name):
        return []
    method = getattr(module, name)

    def noted(*args: Any, **kwargs: Any) -> Any:
        note(args, kwargs, None)
        value = method(*args, **kwargs)
        note(args, kwargs, value)
        return value

    module.__dict__[name] = noted
    return [(module, name)]


def _returned(rows: dict[str, int], modality: str) -> Any:
    def note(args: Any, kwargs: Any, value: Any) -> None:
        found = count_rows(value)
        if found:
            rows[modality] = found

    return note


def _handed(placed: dict[str, int]) -> Any:
    def note(args: Any, kwargs: Any, value: Any) -> None:
        for name, given in kwargs.items():
            modality = name.partition("_")[0]
            if modality in MODALITIES and given is not None:
                placed[modality] = count_rows(given)

    return note


def count_rows(value: Any) -> int:
    """The rows of feature vectors in what a model returns for its images or sounds."""
    import torch

    if isinstance(value, torch.Tensor):
        return value.numel() // value.shape[-1] if value.dim() > 1 else 0
    pooled = getattr(value, "pooler_output", None)
    if pooled is not None:
        return count_rows(pooled)
    if isinstance(value, dict) and "last_hidden_state" in value:
        return count_rows(value["last_hidden_state"])
    if isinstance(value, (list, tuple)):
        return sum(count_rows(v) for v in value if isinstance(v, (torch.Tensor, list, tuple)))
    return 0


def with_placeholders(
    ids: torch.Tensor, rows: dict[str, int], facts: Facts
) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids with the placeholders put in, and the modality number of every token."""
    import torch

    batch = ids.shape[0]
    parts, kinds = [ids[:, :2]], [torch.zeros_like(ids[:, :2])]
    for number, modality in enumerate(MODALITIES, start=1):
        token = token_of(modality, facts)
        if token is None or not rows.get(modality):
            continue
        count = rows[modality] // batch
        around = [_edge(modality, edge, facts) for edge in ("start|bos|begin", "end|eos")]
        row = [around[0], *[token] * count, around[1]]
        numbers = [number if t == token else 0 for t in row if t is not None]
        parts.append(torch.tensor([[t for t in row if t is not None]] * batch))
        kinds.append(torch.tensor([numbers] * batch))
    parts.append(ids[:, 2:])
    kinds.append(torch.zeros_like(ids[:, 2:]))
    return torch.cat(parts, dim=1), torch.cat(kinds, dim=1)


def token_of(modality: str, facts: Facts) -> int | None:
    """The placeholder token of a modality."""
    for pattern in (
        rf"{modality}_token_(id|index)",
        rf"{modality}_(pad|patch|placeholder|soft)\w*_?(id|index)",
    ):
        for value in facts.all(pattern):
            if isinstance(value, int):
                return value
    return None


def _edge(modality: str, edge: str, facts: Facts) -> int | None:
    for owner in (modality, "vision" if modality != "audio" else "audio"):
        for value in facts.all(rf"{owner}_({edge})_token_id"):
            if isinstance(value, int):
                return value
    return None
