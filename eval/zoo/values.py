"""Candidates for the value of a forward parameter, of the shapes that such tensors mostly have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from corpus.recipe import noise
from eval.zoo.facts import Facts

if TYPE_CHECKING:
    import torch

# From a seed to a value, of the same shape for every seed; None leaves the parameter out.
Maker = Callable[[int], "torch.Tensor | None"]
Makers = Callable[[Facts, int], Iterator[Maker]]

LENGTH = 16
_DECODER_LENGTH = 8
_SAMPLES = 6400
_FRAMES = 128
_PATCHES = 16
_GRID = ((4, 8),)
_VOCABULARY = 1000
_BINS = (
    r"num_mel_bins|n_mels|mel_bins|feature_size|n_mel_bins|input_feat_per_channel"
    r"|num_mel_features|input_feat_size|input_size"
)


def noise_of(*shape: int) -> Maker:
    """Seeded normal values of a shape."""
    return lambda seed: noise(seed, *shape)


def same(value: torch.Tensor) -> Maker:
    """This very value for every seed."""
    return lambda seed: value.clone()


def _tokens(facts: Facts, batch: int, length: int = LENGTH) -> Iterator[Maker]:
    import torch

    sizes = [v for v in facts.all(r".*vocab_size") if isinstance(v, int) and v > 8]
    specials = facts.specials()
    ordinary = [t for t in range(3, min([*sizes, _VOCABULARY])) if t not in specials]
    allowed = torch.tensor(ordinary or [0])

    def make(seed: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(seed)
        return allowed[torch.randint(0, len(allowed), (batch, length), generator=generator)]

    yield make
    books = facts.number(r"num_codebooks|n_codebooks|num_quantizers|audio_num_codebooks", 0)
    if books:
        yield lambda seed: make(seed)[..., None].expand(-1, -1, books).contiguous()
        yield lambda seed: make(seed)[:, None].expand(-1, books, -1).contiguous()


def _decoder_tokens(facts: Facts, batch: int) -> Iterator[Maker]:
    yield from _tokens(facts, batch, _DECODER_LENGTH)


def _ones(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    yield same(torch.ones(batch, LENGTH, dtype=torch.long))


def _boxes(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    yield same((torch.arange(batch * LENGTH * 4) % 4 * 10).reshape(batch, LENGTH, 4))
    yield same(torch.zeros(batch, LENGTH, 8))


def _token_types(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    yield same(torch.zeros(batch, LENGTH, dtype=torch.long))


def image_sizes(facts: Facts) -> list[tuple[int, int]]:
    """Heights and widths to try: those in the configuration, nested ones first, then usual ones."""
    found: list[tuple[int, int]] = []
    for value in facts.all(r"(image|img|input)_size|vision_image_size|pretrain_image_size"):
        if isinstance(value, int) and value >= 16:
            found.append((value, value))
        elif isinstance(value, (list, tuple)) and len(value) >= 2 and isinstance(value[-1], int):
            found.append((value[-2], value[-1]))
    return list(dict.fromkeys([*found, (64, 64), (224, 224), (128, 128)]))


def _images(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    channels = facts.number(r"num_channels|in_channels|in_chans|num_image_channels", 3)
    patch = facts.number(r"patch_size", 16)
    cut = channels * patch * patch
    if any("grid" in name for name in facts.parameters):
        cut *= facts.number(r"temporal_patch_size", 1)
        rows = sum(h * w for h, w in _grid(facts))
        yield noise_of(rows, cut)
        yield noise_of(rows, channels, patch, patch)
        yield noise_of(1, rows, cut)
    if {"spatial_shapes", "pixel_position_ids"} & facts.parameters.keys():
        yield noise_of(batch, _PATCHES, cut)
    frames = facts.number(r"num_frames|frames_per_clip|num_video_frames", 2)
    sizes = image_sizes(facts)
    for size in sizes:
        yield noise_of(batch, channels, *size)
        for n in dict.fromkeys((1, frames, 2, 5)):
            yield noise_of(batch, n, channels, *size)
    yield noise_of(batch, _PATCHES, cut)
    yield noise_of(1, channels, patch, patch * sum(h * w for h, w in _grid(facts)))
    yield same(torch.zeros(batch, 3, 64, 64, dtype=torch.long))
    for tiles in (1, 4):
        yield noise_of(batch, 1, tiles, channels, *sizes[0])


def _grid(facts: Facts) -> tuple[tuple[int, int], ...]:
    """Rows and columns of patches of each image, a whole number of merged patches."""
    merge = facts.number(r"spatial_merge_size|merge_size|spatial_merge|merge_kernel_size", 2)
    return _GRID if merge <= 2 else ((merge * 2, merge * 2),)


def _grids(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    yield same(torch.tensor([[1, h, w] for h, w in _grid(facts)]))


def _flat_grids(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    yield same(torch.tensor([list(pair) for pair in _grid(facts)]))


def _flattened(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    cut = facts.number(r"num_channels", 3) * facts.number(r"patch_size", 16) ** 2
    places = torch.arange(1, _PATCHES + 1)
    rows_and_columns = torch.stack([places, places], dim=1).float().expand(batch, -1, -1)
    yield lambda seed: torch.cat([rows_and_columns, noise(seed, batch, _PATCHES, cut)], dim=-1)


def _sizes_of_images(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    for size in image_sizes(facts):
        yield same(torch.tensor([list(size)] * batch))


def _shapes(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    yield same(torch.tensor([[4, 4]] * batch))
    yield same(torch.tensor([list(pair) for pair in _grid(facts)]))


def _merges(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    yield same(torch.tensor([2] * len(_grid(facts))))


def _patch_mask(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    yield same(torch.ones(batch, _PATCHES, dtype=torch.long))
    size = image_sizes(facts)[0]
    for shape in (size, (1, *size), (1,)):
        yield same(torch.ones(batch, *shape, dtype=torch.long))


def _frame_counts(facts: Facts) -> list[int]:
    """First two frames a source position, where an encoder has a fixed number of those."""
    source = facts.number(r"max_source_positions", 0)
    return list(dict.fromkeys([2 * source] * bool(source) + [_FRAMES]))


def _features(facts: Facts, batch: int) -> Iterator[Maker]:
    bins = facts.number(_BINS, 80)
    for n in dict.fromkeys([*_frame_counts(facts), facts.number(r"max_length", _FRAMES)]):
        yield noise_of(batch, bins, n)
        yield noise_of(batch, n, bins)
        yield noise_of(batch, 1, n, bins)
        yield noise_of(batch, n, 2 * bins)
    yield noise_of(batch, 1, 1001, 64)


def _features_mask(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    for n in _frame_counts(facts):
        yield same(torch.ones(batch, n, dtype=torch.long))


def _waves(facts: Facts, batch: int) -> Iterator[Maker]:
    bins = facts.number(r"num_mel_bins|input_dim", 80)
    yield noise_of(batch, _SAMPLES)
    yield noise_of(batch, 1, _SAMPLES)
    yield noise_of(batch, facts.number(r"max_length", _FRAMES), bins)
    yield noise_of(batch, _FRAMES, bins)
    yield noise_of(batch, 6 * _SAMPLES)


def _past(facts: Facts, batch: int) -> Iterator[Maker]:
    for shape in _past_shapes(facts, batch):
        yield noise_of(*shape)


def _past_shapes(facts: Facts, batch: int) -> list[tuple[int, ...]]:
    lags = facts.all(r"lags_sequence")
    length = facts.number(r"context_length", 32) + (max(lags[0]) if lags and lags[0] else 0)
    channels = facts.number(r"num_input_channels|num_channels", 1)
    return [(batch, length), (batch, length, channels)]


def _past_mask(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    for shape in _past_shapes(facts, batch):
        yield same(torch.ones(*shape))


def _past_time(facts: Facts, batch: int) -> Iterator[Maker]:
    yield noise_of(*_past_shapes(facts, batch)[0], facts.number(r"num_time_features", 0))


def unknown(name: str, facts: Facts, batch: int) -> Iterator[Maker]:
    """Candidates for a required parameter that no name pattern knows."""
    import torch

    width = facts.number(r"hidden_size|d_model|embed_dim|dim", 64)
    if "mask" in name:
        yield from _ones(facts, batch)
    elif name.endswith(("ids", "labels", "types")):
        yield from _tokens(facts, batch)
    else:
        for shape in ((LENGTH, width), (width, LENGTH), (width, 8, 8), (width,)):
            yield noise_of(batch, *shape)
        yield same(torch.ones(batch, dtype=torch.long))


MAKERS: tuple[tuple[str, Makers], ...] = (
    (r"decoder_input_ids", _decoder_tokens),
    (r"(\w+_)?input_ids", _tokens),
    (r"input_features_mask|feature_attention_mask|audio_mel_mask", _features_mask),
    (r"pixel_attention_mask", _patch_mask),
    (r"(\w+_)?attention_mask", _ones),
    (r"(mm_)?token_type_ids", _token_types),
    (r"bbox", _boxes),
    (r"(\w+_)?pixel_values(_videos)?|image|x", _images),
    (r"(image_|video_)?grid_thw", _grids),
    (r"image_grid_hw", _flat_grids),
    (r"flattened_patches", _flattened),
    (r"image_sizes", _sizes_of_images),
    (r"spatial_shapes|target_sizes", _shapes),
    (r"(image_|video_)?merge_sizes", _merges),
    (r"input_features|audio_input_features|audio_mel", _features),
    (r"input_values|audio_values", _waves),
    (r"past_values|observed_values|inputs", _past),
    (r"past_observed_mask", _past_mask),
    (r"past_time_features", _past_time),
)
