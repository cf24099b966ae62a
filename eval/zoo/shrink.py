"""Which sizes in a configuration are made small, told from their names and values alone.

Widths are divided by one number and counts of heads stay as they are, so that what divides what
still does. Where a model cannot be built so, the next plan divides less.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Plan:
    """How far to shrink: what widths are divided by, how many layers are kept, images too or not.

    `layers` is None where depth stays as it is. With `heads`, heads become fewer and keep their
    width; otherwise they become narrower.
    """

    divisor: int
    layers: int | None
    images: bool
    heads: bool = False


# Tried in this order until a model is built and runs.
PLANS = (
    Plan(16, 2, True),
    Plan(16, 2, False),
    Plan(16, 2, True, heads=True),
    Plan(16, 2, False, heads=True),
    Plan(8, 2, True),
    Plan(16, 4, False),
    Plan(4, 2, False, heads=True),
    Plan(4, None, False),
    Plan(2, 4, False),
    Plan(1, 2, False),
    Plan(1, None, False),
)
VOCABULARY = 1024
_POSITIONS = 512
_EXPERTS = 8
_IMAGE = 128
_NARROW = 32  # a narrower width is left as it is
_COLOURS = 4
_COLUMN_KINDS = 4  # the most layers kept to have one of each kind


def _named(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_WIDTH = _named(
    r"hidden_size",
    r"intermediate(_\w+)?_size",
    r"(embed|embedding|embeds|ffn|mlp|head|projection|proj|model|state|latent)_?size",
    r"(^|_)dims?(_|$)",
    r"_d?dim(s|_in|_out)?$",
    r"width",
    r"channels?(_|$)",
    r"filters",
    r"rank$",
    r"units$",
    r"^d_(model|ff|kv|inner|embed|latents|rel|head)$",
    r"^n_(embd|inner)$",
    r"feed_forward_(size|proj)",
    r"(input|output)_size$",
    r"groups_width",
    r"codevector",
    r"conv_dim",
    r"stem_channels",
    r"feature_size",
    r"(coordinate|shape)_size",
    r"upsample_groups",
    r"num_groups$",
)
_NOT_WIDTH = _named(
    r"vocab",
    r"num_(layers|heads|positions)",
    r"image|patch|window|kernel",
    r"mel_",
    r"^num_channels$",
)
_HEADS = _named(r"heads$", r"^n_head$", r"num_query_groups")
_HEAD_WIDTH = _named(r"head_dim", r"head_size", r"^d_kv$", r"^query_pre_attn_scalar$")
_LAYERS = _named(
    r"(^|_)layers?(_per_stack)?$",
    r"^depth$",
    r"_depth$",
    r"^n_layer$",
    r"^num_blocks$",
    r"num_residual_blocks",
    r"num_self_attends_per_block",
    r"decoder_num_layers",
)
_STAGES = _named(
    r"depths?$",
    r"_blocks$",
    r"blocks_per_stage",
    r"^layers$",
    r"repeats$",
    r"numb_of_layers",
    r"num_layers",
    r"block_sizes",
)
_INDICES = _named(
    r"ind(ex|ices|exes)$",
    r"idxs?$",
    r"(attention|cross_attention|only|target|feature)_layers?$",
    r"layer_ids$",
    r"attention_blocks$",
)
_PERIOD = _named(r"(period|interval|frequency|sparse_step|offset|_pattern|dense_replace)$")
_EXPERT_COUNT = _named(r"experts$", r"expert_num$", r"num_experts_per_layer")
_EXPERT_GROUPS = _named(r"^n_group$", r"topk_group$")
_TOP_EXPERTS = _named(
    r"experts_per_tok",
    r"moe_topk$",
    r"moe_k$",
    r"top_k_experts",
    r"num_selected_experts",
)
_VOCABULARY = _named(r"vocab(ulary)?_size", r"vocab_size_\w+")
_TOKEN = _named(r"_ids?$", r"token_index$", r"_token$", r"_idx$")
_PLACEHOLDER = _named(r"(image|video|audio)_token_(id|index)")
_POSITION_COUNT = _named(
    r"max_position",
    r"^n_positions$",
    r"^n_ctx$",
    r"max_seq",
    r"^context_length$",
)
_IMAGE_SIZE = _named(r"(image|img)_size$", r"^(image|img)_size")


class Tokens:
    """New numbers for the special tokens that lie outside of the small vocabulary, one for each."""

    def __init__(self) -> None:
        self._given: dict[int, int] = {}

    def __call__(self, identity: int) -> int:
        if identity < VOCABULARY:
            return identity
        return self._given.setdefault(identity, VOCABULARY - 1 - len(self._given))

    def fresh(self) -> int:
        """A number that no other token has."""
        return self(VOCABULARY + max(self._given, default=0))


def shrunken(values: Mapping[str, Any], plan: Plan, tokens: Tokens) -> dict[str, Any]:
    """The entries of one configuration that are to change, with what they become."""
    changed = {}
    for name, value in values.items():
        small = _small(name, value, values, plan, tokens)
        if small is not value and small != value:
            changed[name] = small
    return {**changed, **_columns(values, plan)}


def _small(name: str, value: Any, values: Mapping[str, Any], plan: Plan, tokens: Tokens) -> Any:
    if value is None and _PLACEHOLDER.fullmatch(name):
        return tokens.fresh()
    if isinstance(value, dict):
        return {k: _sections(k, v, plan) for k, v in value.items()}
    if isinstance(value, bool) or not isinstance(value, (int, list, tuple)):
        return value
    if isinstance(value, int):
        return _small_number(name, value, values, plan, tokens)
    if "section" in name:
        return _sections(name, value, plan)
    if _TOKEN.search(name) and _numbers(value) and max(value) >= VOCABULARY:
        return type(value)(tokens(v) for v in value)
    if plan.layers is not None and _INDICES.search(name):
        stages = name.startswith("out_") and isinstance(values.get("depths"), (list, tuple))
        return value if stages else _indices(value, plan.layers)
    if plan.layers is not None and _STAGES.search(name) and _numbers(value):
        return type(value)(min(v, 1) for v in value)
    if _is_width(name, plan):
        return _all_divided(value, plan.divisor)
    if _IMAGE_SIZE.search(name) and plan.images and _numbers(value):
        return type(value)(_image(v, values) for v in value)
    return value


def _small_number(
    name: str, value: int, values: Mapping[str, Any], plan: Plan, tokens: Tokens
) -> int:
    if _VOCABULARY.search(name):
        return min(value, VOCABULARY)
    if _TOKEN.search(name):
        return tokens(value)
    if plan.layers is not None and (_PERIOD.search(name) or _LAYERS.search(name)):
        most = plan.layers - 1 if name.endswith(("offset", "replace")) else plan.layers
        return min(value, most)
    if plan.heads and _HEADS.search(name):
        return max(1, value // plan.divisor)
    if _TOP_EXPERTS.search(name):
        return min(value, 2)
    if _EXPERT_COUNT.search(name):
        return min(value, _EXPERTS)
    if _EXPERT_GROUPS.search(name):
        return min(value, 1 if name.startswith("top") else 2)
    if _POSITION_COUNT.search(name) and not re.search("source|target|audio|speech", name):
        return min(value, _POSITIONS)
    if _IMAGE_SIZE.search(name):
        return _image(value, values) if plan.images else value
    return _divided(value, plan.divisor) if _is_width(name, plan) else value


def _is_width(name: str, plan: Plan) -> bool:
    if plan.heads and _HEAD_WIDTH.search(name):
        return False
    return bool(_WIDTH.search(name)) and not _NOT_WIDTH.search(name)


def _divided(value: Any, divisor: int) -> Any:
    wide = isinstance(value, int) and not isinstance(value, bool) and value >= _NARROW
    return value // divisor if wide and value % divisor == 0 else value


def _all_divided(value: Any, divisor: int) -> Any:
    """A list of widths divided, or as it is where one of them cannot be. Colours are no widths."""
    if not _numbers(value):
        return value
    small = [v if v <= _COLOURS else _divided(v, divisor) for v in value]
    kept = [v for v, s in zip(value, small, strict=True) if v == s and v > _COLOURS]
    return value if kept else type(value)(small)


def _numbers(value: Any) -> bool:
    return bool(value) and all(isinstance(v, int) and not isinstance(v, bool) for v in value)


def _image(size: int, values: Mapping[str, Any]) -> int:
    """Halved until small enough, while whole patches still fill it."""
    patch = values.get("patch_size")
    unit = patch if isinstance(patch, int) else 1
    while size > _IMAGE and size % 2 == 0 and (size // 2) % unit == 0:
        size //= 2
    return size


def _indices(value: Any, layers: int) -> Any:
    """Layer indices spread over the layers kept; from the end they stay as they are."""
    if not _numbers(value) or max(value) < layers or min(value) < 0:
        return value
    most = max(value)
    return type(value)(sorted({v * (layers - 1) // most for v in value}))


def _sections(name: str, value: Any, plan: Plan) -> Any:
    """Parts that a head's width is cut into, in a dictionary of rotary parameters."""
    if isinstance(value, dict):
        return {k: _sections(k, v, plan) for k, v in value.items()}
    parts_of_a_head = isinstance(value, (list, tuple)) and "section" in name and _numbers(value)
    if plan.heads or not parts_of_a_head:
        return value
    total = sum(value) // plan.divisor
    parts = [v // plan.divisor for v in value]
    for at in range(total - sum(parts)):
        parts[-1 - at % len(parts)] += 1
    return type(value)(parts)


def _columns(values: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """Lists with an entry a layer, cut so that each kind of layer is there once."""
    if plan.layers is None:
        return {}
    depths = [
        (k, v) for k, v in values.items() if isinstance(v, int) and _LAYERS.search(k) and v > 1
    ]
    for name, depth in depths:
        columns = {
            k: v
            for k, v in values.items()
            if isinstance(v, (list, tuple)) and len(v) == depth and depth > plan.layers
        }
        kinds = {k: v for k, v in columns.items() if all(isinstance(x, str) for x in v)}
        if kinds:
            kept = list(_first_of_each(list(zip(*kinds.values(), strict=True)), plan.layers))
            return {
                **{k: type(v)(v[at] for at in kept) for k, v in columns.items()},
                name: len(kept),
            }
    return {}


def _first_of_each(rows: list[Any], least: int) -> Iterator[int]:
    first = [at for at, row in enumerate(rows) if row not in rows[:at]][:_COLUMN_KINDS]
    others = [at for at in range(len(rows)) if at not in first]
    return iter(sorted(first + others[: max(0, least - len(first))]))
