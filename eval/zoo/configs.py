"""A library's own configuration object made again with small sizes, nested ones included."""

from __future__ import annotations

import inspect
from typing import Any

from eval.zoo.shrink import Plan, Tokens, shrunken


def small_config(default: Any, plan: Plan, tokens: Tokens | None = None) -> Any:
    """A configuration of the class of `default`, shrunken.

    It is constructed anew from the arguments that matter, so that what the constructor derives
    from them is derived from the small ones. Raises what the constructor raises.
    """
    tokens = tokens or Tokens()
    arguments, nested = _arguments(default, plan, tokens)
    try:
        small = type(default)(**arguments, **nested)
    except (TypeError, AttributeError):  # older classes want dictionaries
        if not nested:
            raise
        small = type(default)(**arguments, **{k: v.to_dict() for k, v in nested.items()})
    return _complete(small, default, plan, tokens)


def _complete(small: Any, default: Any, plan: Plan, tokens: Tokens) -> Any:
    """With the entries that the constructor was not told, as it has no argument for them."""
    missing = {k: v for k, v in _public(default).items() if k not in vars(small)}
    for name, value in {**missing, **shrunken(missing, plan, tokens)}.items():
        setattr(small, name, value)
    indices = getattr(default, "_out_indices", None)  # of backbones; their names follow
    if indices:
        kept = {"out_indices": list(indices), "depths": _public(default).get("depths")}
        small.out_indices = {**kept, **shrunken(kept, plan, tokens)}["out_indices"]
    return small


def _public(config: Any) -> dict[str, Any]:
    return {k: v for k, v in vars(config).items() if not k.startswith("_")}


def _arguments(default: Any, plan: Plan, tokens: Tokens) -> tuple[dict[str, Any], dict[str, Any]]:
    """What to pass to the constructor: plain values, and nested configurations."""
    values = _public(default)
    nested = {
        k: small_config(v, plan, tokens) for k, v in values.items() if hasattr(v, "to_diff_dict")
    }
    declared = _declared(type(default))
    plain = vars(_plain(type(default)))
    given = {
        k: values[k]
        for k in declared
        if k in values and k not in nested and (k not in plain or plain[k] != values[k])
    }
    small = {k: v for k, v in shrunken(values, plan, tokens).items() if k in declared}
    chosen = {
        k: v
        for k, v in small.items()
        if declared[k] is not None or k in given or _chosen(values[k])
    }
    return {**given, **chosen}, nested


def _plain(cls: type) -> Any:
    """An object of the class as it comes, or an empty one where it needs arguments."""
    try:
        return cls()
    except Exception:
        return object.__new__(cls)


def _declared(cls: type) -> dict[str, Any]:
    """The constructor's arguments with their defaults, those of every class it is made of."""
    found: dict[str, Any] = {}
    for one in reversed(cls.__mro__):
        init = one.__dict__.get("__init__")
        if init is None or one is object:
            continue
        for parameter in inspect.signature(init).parameters.values():
            if parameter.kind is parameter.KEYWORD_ONLY or (
                parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.name != "self"
            ):
                default = parameter.default
                found[parameter.name] = None if default is parameter.empty else default
    return found


def _chosen(value: Any) -> bool:
    """Whether it is chosen where it differs from what the constructor would derive.

    A list with one entry a layer is, a dictionary, and what is not set at all.
    """
    lists = isinstance(value, (list, tuple)) and any(isinstance(v, str) for v in value)
    return lists or value is None or isinstance(value, dict)
