"""Decoder-only models of the published table, two layers each, seeded weights."""

from __future__ import annotations

from typing import Any

from transformers import (
    BioGptConfig,
    BioGptForCausalLM,
    PegasusConfig,
    PegasusForCausalLM,
    Phi3Config,
    Phi3ForCausalLM,
)

from corpus.recipe import Case, tokens

ORIGINAL_LENGTH = 16


def biogpt() -> Case:
    """Its decoder warns once that a tuple cache is deprecated."""
    config = BioGptConfig(
        num_hidden_layers=2,
        hidden_size=64,
        num_attention_heads=4,
        intermediate_size=64,
        vocab_size=200,
    )
    return Case(BioGptForCausalLM(config), _calls(8, 8, 11, 8))


def pegasus() -> Case:
    """The decoder alone, as a causal language model."""
    config = PegasusConfig(
        decoder_layers=2,
        d_model=64,
        decoder_attention_heads=4,
        decoder_ffn_dim=64,
        vocab_size=200,
    )
    return Case(PegasusForCausalLM(config), _calls(8, 8, 11, 8))


def phi4() -> Case:
    """Rotary frequencies switch when a sequence outgrows the original length, and back.

    The lengths lie below, above, above and again below that length, so that the frequencies that
    an earlier call left behind are read in both directions.
    """
    head_dim = 16
    config = Phi3Config(
        num_hidden_layers=2,
        hidden_size=64,
        num_attention_heads=64 // head_dim,
        num_key_value_heads=2,
        intermediate_size=64,
        vocab_size=200,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        max_position_embeddings=64,
        original_max_position_embeddings=ORIGINAL_LENGTH,
        rope_scaling={
            "type": "longrope",
            "short_factor": [1.0 + 0.01 * i for i in range(head_dim // 2)],
            "long_factor": [2.0 + 0.25 * i for i in range(head_dim // 2)],
        },
    )
    return Case(Phi3ForCausalLM(config), _calls(8, ORIGINAL_LENGTH + 8, ORIGINAL_LENGTH + 16, 8))


def _calls(*lengths: int) -> list[dict[str, Any]]:
    return [{"input_ids": tokens(i, 2, length)} for i, length in enumerate(lengths)]
