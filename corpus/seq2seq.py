"""Encoder-decoder models of the published table, two layers each, seeded weights."""

from __future__ import annotations

from typing import Any

import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BlenderbotConfig,
    BlenderbotForConditionalGeneration,
    MarianConfig,
    MarianMTModel,
    T5Config,
    T5ForConditionalGeneration,
    WhisperConfig,
    WhisperForConditionalGeneration,
)

from corpus.recipe import Case, noise, tokens

SMALL: dict[str, Any] = {
    "encoder_layers": 2,
    "decoder_layers": 2,
    "d_model": 64,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "vocab_size": 200,
}
HOT_TOKEN = 150


def t5() -> Case:
    """Its decoder warns once that a tuple cache is deprecated."""
    config = T5Config(
        num_layers=2,
        d_model=64,
        d_kv=16,
        d_ff=64,
        num_heads=4,
        vocab_size=100,
        decoder_start_token_id=0,
    )
    return Case(
        T5ForConditionalGeneration(config),
        [
            {"input_ids": tokens(1, 2, 8), "decoder_input_ids": tokens(2, 2, 8)},
            {"input_ids": tokens(3, 2, 8), "decoder_input_ids": tokens(4, 2, 8)},
            {"input_ids": tokens(5, 2, 11), "decoder_input_ids": tokens(6, 2, 5)},
            {"input_ids": tokens(7, 2, 8), "decoder_input_ids": tokens(8, 2, 8)},
        ],
    )


def whisper() -> Case:
    """The encoder takes one length only; the decoder's varies."""
    config = WhisperConfig(
        **SMALL,
        num_mel_bins=80,
        max_source_positions=50,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )
    return Case(
        WhisperForConditionalGeneration(config),
        [
            {"input_features": noise(1, 2, 80, 100), "decoder_input_ids": tokens(2, 2, 4)},
            {"input_features": noise(3, 2, 80, 100), "decoder_input_ids": tokens(4, 2, 4)},
            {"input_features": noise(5, 2, 80, 100), "decoder_input_ids": tokens(6, 2, 7)},
            {"input_features": noise(7, 2, 80, 100), "decoder_input_ids": tokens(8, 2, 4)},
        ],
    )


def bart_fp16() -> Case:
    """float16: the overflow guards of the encoder are read; the last calls overflow one."""
    model = BartForConditionalGeneration(BartConfig(**SMALL)).half()
    _overflow_on_hot_token(model.model.encoder)
    return Case(model, _translation_calls())


def bart_fp32() -> Case:
    """In float32 the overflow guards are statically false."""
    return Case(BartForConditionalGeneration(BartConfig(**SMALL)), _translation_calls())


def marian_fp16() -> Case:
    """As BART in float16, without the layer norm after the embeddings."""
    model = MarianMTModel(MarianConfig(**SMALL, pad_token_id=1, decoder_start_token_id=1)).half()
    _overflow_on_hot_token(model.model.encoder)
    return Case(model, _translation_calls())


def blenderbot() -> Case:
    """Its decoder warns once that a tuple cache is deprecated."""
    config = BlenderbotConfig(**SMALL)
    return Case(BlenderbotForConditionalGeneration(config), _translation_calls())


def _translation_calls() -> list[dict[str, Any]]:
    """Two shapes; the ordinary tokens first, the hot one in the third call."""
    hot = tokens(5, 2, 8)
    hot[1, 3] = HOT_TOKEN
    return [
        _translation(tokens(1, 2, 8)),
        _translation(tokens(2, 2, 8)),
        _translation(hot),
        _translation(tokens(4, 2, 11)),
    ]


def _translation(ids: torch.Tensor) -> dict[str, Any]:
    mask = torch.ones_like(ids)
    mask[0, -2:] = 0
    return {"input_ids": ids, "attention_mask": mask, "decoder_input_ids": ids[:, :1].clone()}


def _overflow_on_hot_token(encoder: Any) -> None:
    """Make the first encoder layer's output infinite in one channel, for HOT_TOKEN alone.

    That channel is zero in the embedding of every other token and dominates in the hot one's; the
    layer's last norm scales it out of float16's range. So the guard's branch is taken in the call
    that holds the token, and in no other.
    """
    with torch.no_grad():
        encoder.embed_tokens.weight[:, 0] = 0
        encoder.embed_tokens.weight[HOT_TOKEN, 0] = 50
        encoder.embed_positions.weight[:, 0] = 0
        encoder.layers[0].final_layer_norm.weight[0] = 9000
