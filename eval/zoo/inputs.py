"""Which forward parameters of a model are filled, by the kinds of input that it takes."""

from __future__ import annotations

import re

from eval.zoo.facts import Facts
from eval.zoo.latent_values import LATENT_MAKERS
from eval.zoo.values import MAKERS, Maker, unknown

KINDS: dict[str, str] = {
    "text": r"(decoder_)?input_ids|bbox|mm_token_type_ids|attention_mask|qformer_\w+"
    r"|(classes|tasks)_\w+",
    "image": r"pixel_values|image_grid_\w+|image_sizes|grid_thw|pixel_position_ids|spatial_shapes"
    r"|image_position_ids|pixel_attention_mask|image|flattened_patches|target_sizes|merge_sizes"
    r"|image_pixel_values|image_merge_sizes|high_res_pixel_values|aspect_ratio_\w+"
    r"|cross_attention_mask|prompt_(pixel_values|masks)|visual_(embeds|feats|pos)|task_inputs"
    r"|input_points",
    "video": r"pixel_values_videos|video_grid_thw|video_merge_sizes",
    "audio": r"input_features(_mask)?|feature_attention_mask|input_values|audio_\w+",
    "series": r"(past|future|static)_\w+|states|actions|rewards|returns_to_go|timesteps|inputs"
    r"|freq",
    "latent": r"sample|hidden_states|timesteps?|encoder_hidden_states|encoder_attention_mask"
    r"|pooled_projections|img_ids|txt_ids|guidance|class_labels|controlnet_cond",
}
# Given only where they are required: their defaults are what most users run with.
_OPTIONAL = re.compile(
    r"decoder_attention_mask|future_\w+|classes_structure"
    r"|past_(key|buckets|observed|values_padding)\w*|image_position_ids|cross_attention_mask"
    r"|audio_(codes|scales|labels|prompt\w*|latents\w*|attention_mask|feature_lengths)"
    r"|input_points|visual_(feats|pos)_mask|static_\w+|image_grid_hw"
)
# Tried without first.
_MAYBE = re.compile(
    r"image_sizes|target_sizes|input_features_mask|feature_attention_mask|spatial_shapes"
    r"|pixel_attention_mask|class_labels|encoder_attention_mask|guidance"
)


def kinds(facts: Facts) -> list[str]:
    """The kinds of input that a model takes, in the order of KINDS."""
    names = wanted(facts, list(KINDS))
    found = [kind for kind in KINDS if any(kind in _kinds_of(name) for name in names)]
    if not _is_latent(facts) and "latent" in found:
        found.remove("latent")
    return found


def _is_latent(facts: Facts) -> bool:
    """Whether it is a part of a diffusion model; elsewhere the same names mean something else."""
    times = {"timestep", "timesteps", "sample"} & facts.parameters.keys()
    return bool(times) and "returns_to_go" not in facts.parameters


def wanted(facts: Facts, given: list[str]) -> list[str]:
    """The parameters to fill when these kinds of input are given, the doubtful ones last."""
    names = []
    for name in facts.parameters:
        of = _kinds_of(name)
        essential = name in facts.required or name == facts.main
        if (essential and not of) or (
            set(of) & set(given) and (essential or not _OPTIONAL.fullmatch(name))
        ):
            names.append(name)
    if "attention_mask" in names and "input_ids" not in names:
        names.remove("attention_mask")
    return sorted(names, key=lambda name: bool(_MAYBE.fullmatch(name)))


def _kinds_of(name: str) -> list[str]:
    return [kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, name)]


def candidates(name: str, facts: Facts, batch: int) -> list[Maker]:
    """Makers of values for a parameter, the likeliest first."""
    absent: list[Maker] = []
    if _MAYBE.fullmatch(name) and name not in facts.required:
        absent.append(lambda seed: None)
    latents = LATENT_MAKERS if _is_latent(facts) else ()
    for pattern, make in (*latents, *MAKERS):
        if re.fullmatch(pattern, name):
            return [*absent, *make(facts, batch)]
    return [*absent, *unknown(name, facts, batch)]
