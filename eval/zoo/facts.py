"""What a model says about the inputs it takes: its signature and its configuration."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any


class Facts:
    """The forward signature of a model and every value in its configuration, nested ones first."""

    def __init__(self, model: Any) -> None:
        self.model = model
        signature = inspect.signature(model.forward)
        self.parameters = {
            n: p
            for n, p in signature.parameters.items()
            if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        }
        self.required = [n for n, p in self.parameters.items() if p.default is p.empty]
        self.main = getattr(model, "main_input_name", None)
        config = getattr(model, "config", None) or getattr(model, "default_cfg", None)
        self._values = list(_walk(config, ""))

    def all(self, pattern: str, within: str = "") -> list[Any]:
        """Values of the entries whose name matches `pattern` and whose path holds `within`."""
        return [
            v
            for path, name, v in self._values
            if re.fullmatch(pattern, name) and re.search(within, path) and v is not None
        ]

    def number(self, pattern: str, default: int, within: str = "") -> int:
        """The first whole number under such a name; the first of a list of them."""
        for value in self.all(pattern, within):
            first = value[0] if isinstance(value, (list, tuple)) and value else value
            if isinstance(first, int) and not isinstance(first, bool):
                return first
        return default

    def specials(self) -> set[int]:
        """The numbers of all special tokens."""
        found: set[int] = set()
        for value in self.all(r".*(_id|_ids|token_index|_token|_idx)"):
            numbers = value if isinstance(value, (list, tuple)) else [value]
            found |= {number for number in numbers if isinstance(number, int)}
        return found


def _walk(config: Any, path: str) -> Iterator[tuple[str, str, Any]]:
    """Every entry by path: those at the top last, as the nested ones are closer to a model."""
    values = config if isinstance(config, dict) else vars(config) if config is not None else {}
    for name, value in values.items():
        if hasattr(value, "to_diff_dict"):
            yield from _walk(value, f"{path}.{name}")
    for name, value in values.items():
        yield path, name, value
