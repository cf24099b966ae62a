"""Candidates for the parameters of diffusion models: latents, times, and what conditions them."""

from __future__ import annotations

from collections.abc import Iterator

from eval.zoo.facts import Facts
from eval.zoo.values import Maker, Makers, noise_of, same

_SIDE = 16
_TOKENS = 16
_WORDS = 8
_WIDTHS = (
    r"cross_attention_dim|joint_attention_dim|caption_channels|text_embed_dim|text_dim"
    r"|encoder_hid_dim|text_hidden_dim|caption_projection_dim|embedding_dim|cap_feat_dim"
)


def _latents(facts: Facts, batch: int) -> Iterator[Maker]:
    channels = facts.number(r"in_channels|num_channels", 4)
    side = facts.number(r"sample_size", _SIDE)
    for size in dict.fromkeys((min(side, 64), _SIDE)):
        yield noise_of(batch, channels, size, size)
        yield noise_of(batch, channels, 1, size, size)
        yield noise_of(batch, channels, 5, size, size)
        yield noise_of(batch, 5, channels, size, size)
    yield noise_of(batch, _TOKENS, channels)
    yield noise_of(batch, channels, 1024)


def _times(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    yield same(torch.ones(batch))
    yield same(torch.ones(batch, dtype=torch.long))


def _words(facts: Facts, batch: int) -> Iterator[Maker]:
    yield noise_of(batch, _WORDS, facts.number(_WIDTHS, 64))


def _pooled(facts: Facts, batch: int) -> Iterator[Maker]:
    yield noise_of(batch, facts.number(r"pooled_projection_dim", 64))


def _word_mask(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    yield same(torch.ones(batch, _WORDS))


def _image_places(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    for axes in (3, 4):
        yield same(torch.zeros(_TOKENS, axes))


def _text_places(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    for axes in (3, 4):
        yield same(torch.zeros(_WORDS, axes))


def _labels(facts: Facts, batch: int) -> Iterator[Maker]:
    import torch

    yield same(torch.zeros(batch, dtype=torch.long))


LATENT_MAKERS: tuple[tuple[str, Makers], ...] = (
    (r"sample|hidden_states|controlnet_cond", _latents),
    (r"timesteps?|guidance", _times),
    (r"encoder_hidden_states", _words),
    (r"encoder_attention_mask", _word_mask),
    (r"pooled_projections", _pooled),
    (r"img_ids", _image_places),
    (r"txt_ids", _text_places),
    (r"class_labels", _labels),
)
