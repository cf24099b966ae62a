"""Programs that graphmend is measured on: real models, by config, and small break patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def __getattr__(name: str) -> Callable[[], tuple[Any, Any]]:
    """What makes a model of the registry and its calls, for `graphmend verify corpus:NAME`."""
    from corpus.recipe import build
    from corpus.registry import recipe

    try:
        builder = recipe(name).builder
    except KeyError:
        raise AttributeError(f"no model is called {name!r}") from None

    def make() -> tuple[Any, Any]:
        case = build(builder)
        return case.model, case.calls

    return make
