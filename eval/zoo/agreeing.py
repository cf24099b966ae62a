"""Default configurations whose parts fit: what is not set is derived, towers meet in one width.

Defaults are those of the single classes. They need not make a model together, as nobody builds one
from them.
"""

from __future__ import annotations

from typing import Any

_MEET = ("out_hidden_size", "text_hidden_size")


def agreeing(config: Any) -> Any:
    """The configuration, changed where its defaults leave no other way."""
    for part in _parts(config):
        _derive(part)
    text = getattr(config, "text_config", None)
    width = vars(text).get("hidden_size") if text is not None else None
    if not isinstance(width, int):
        return config
    for part in _parts(config):
        for name in (*_MEET, *["hidden_size"] * (part is config)):
            if isinstance(vars(part).get(name), int):
                setattr(part, name, width)
    return config


def matching(config: Any, cls: type) -> Any:
    """The configuration, or the part of it, that a model class is made from."""
    return next((part for part in _parts(config) if isinstance(part, cls)), config)


def _parts(config: Any) -> list[Any]:
    """The configuration and all that are nested in it."""
    nested = [value for value in vars(config).values() if hasattr(value, "to_diff_dict")]
    return [config, *(part for one in nested for part in _parts(one))]


def _derive(config: Any) -> None:
    """Heads of their usual width, as many for keys and values, where that is not set."""
    values = vars(config)
    width, heads = values.get("hidden_size"), values.get("num_attention_heads")
    if not isinstance(width, int) or not isinstance(heads, int):
        return
    if "num_key_value_heads" in values and values["num_key_value_heads"] is None:
        config.num_key_value_heads = heads
    if "head_dim" in values and values["head_dim"] is None:
        config.head_dim = width // heads
