"""Encoders and multimodal models of the published table, two layers each, seeded weights."""

from __future__ import annotations

from typing import Any

import torch
from transformers import (
    BertConfig,
    ClapAudioConfig,
    ClapConfig,
    ClapModel,
    ClapTextConfig,
    GroundingDinoConfig,
    GroundingDinoForObjectDetection,
    LayoutLMv3Config,
    LayoutLMv3Model,
    LongformerConfig,
    LongformerModel,
    SwinConfig,
)

from corpus.recipe import Case, noise, tokens

SMALL: dict[str, Any] = {
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "vocab_size": 200,
}
WINDOW = 8


def layoutlmv3() -> Case:
    """Text and boxes only: the deprecated `device` argument warns in a shared base class."""
    config = LayoutLMv3Config(
        **SMALL,
        visual_embed=False,
        coordinate_size=11,
        shape_size=10,
        max_2d_position_embeddings=64,
    )
    return Case(
        LayoutLMv3Model(config), [_page(i, length) for i, length in enumerate((8, 8, 12, 8))]
    )


def longformer() -> Case:
    """Lengths that are no multiple of the attention window; the last call has global attention."""
    config = LongformerConfig(**SMALL, attention_window=[WINDOW, WINDOW])
    model = LongformerModel(config)
    calls = [{"input_ids": tokens(i, 2, length)} for i, length in enumerate((13, 13, 21, 13))]
    calls[3]["global_attention_mask"] = torch.zeros(2, 13, dtype=torch.long)
    calls[3]["global_attention_mask"][:, 0] = 1
    return Case(model, calls)


def grounding_dino() -> Case:
    """A Swin backbone and a BERT, both built from configs; pictures of two sizes."""
    config = GroundingDinoConfig(
        backbone_config=SwinConfig(
            image_size=64,
            embed_dim=16,
            depths=[1, 1, 1, 1],
            num_heads=[1, 2, 2, 2],
            window_size=2,
            out_features=["stage2", "stage3", "stage4"],
        ),
        use_timm_backbone=False,
        text_config=BertConfig(**SMALL, max_position_embeddings=32),
        num_queries=10,
        d_model=32,
        encoder_layers=2,
        encoder_ffn_dim=32,
        encoder_attention_heads=2,
        decoder_layers=2,
        decoder_ffn_dim=32,
        decoder_attention_heads=2,
        max_text_len=32,
    )
    sizes = ((128, 128), (128, 128), (128, 160))
    calls = [_captioned_picture(i, height, width) for i, (height, width) in enumerate(sizes)]
    return Case(GroundingDinoForObjectDetection(config), calls)


def clap() -> Case:
    """Fused long clips: which of the batch are long is data."""
    config = ClapConfig.from_text_audio_configs(
        ClapTextConfig(**SMALL, max_position_embeddings=40, pad_token_id=1),
        ClapAudioConfig(
            enable_fusion=True,
            spec_size=64,
            num_mel_bins=16,
            patch_embeds_hidden_size=16,
            depths=[1, 1],
            num_attention_heads=[2, 2],
            hidden_size=32,
            window_size=4,
            num_hidden_layers=2,
            fusion_num_hidden_layers=2,
        ),
        projection_dim=16,
    )
    longs = ([[True], [False]], [[False], [True]], [[True], [True]], [[True], [False]])
    calls = [
        {
            "input_ids": tokens(i, 2, length),
            "input_features": noise(i, 2, 4, 256, 16),
            "is_longer": torch.tensor(longer),
        }
        for i, (length, longer) in enumerate(zip((8, 8, 11, 8), longs, strict=True))
    ]
    return Case(ClapModel(config), calls)


def _page(seed: int, length: int) -> dict[str, Any]:
    corners = tokens(seed + 100, 2, length * 4, 0, 50).reshape(2, length, 4)
    return {"input_ids": tokens(seed, 2, length), "bbox": corners.sort(-1).values}


def _captioned_picture(seed: int, height: int, width: int) -> dict[str, Any]:
    """Two pictures, the second padded on the right, with two phrases each.

    The masks are given, as the model's processor does. The ids 101, 102 and 1012 are the
    separators that the model looks for in its text.
    """
    ids = tokens(seed, 2, 8)
    ids[:, 0], ids[:, 4], ids[:, 7] = 101, 102, 102
    pixel_mask = torch.ones(2, height, width, dtype=torch.long)
    pixel_mask[1, :, width // 2 :] = 0
    return {
        "pixel_values": noise(seed, 2, 3, height, width),
        "pixel_mask": pixel_mask,
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "token_type_ids": torch.zeros_like(ids),
    }
