"""The forecasting model of the published table, two layers, seeded weights.

It comes from the package chronos-forecasting, around the T5 of transformers.
"""

from __future__ import annotations

import torch
from chronos.chronos_bolt import ChronosBoltModelForForecasting
from transformers import T5Config

from corpus.recipe import Case, noise


def chronos_bolt() -> Case:
    """Series of two lengths; in the last call one has a gap."""
    config = T5Config(
        d_model=32,
        d_ff=64,
        d_kv=8,
        num_heads=4,
        num_layers=2,
        num_decoder_layers=2,
        is_gated_act=False,
        dense_act_fn="relu",
        pad_token_id=0,
        decoder_start_token_id=0,
    )
    config.chronos_config = {
        "context_length": 64,
        "prediction_length": 16,
        "input_patch_size": 8,
        "input_patch_stride": 8,
        "quantiles": [0.1, 0.5, 0.9],
        "use_reg_token": True,
    }
    calls = [{"context": noise(i, 2, length)} for i, length in enumerate((64, 64, 32, 64))]
    calls[-1]["context"][0, 3:6] = torch.nan
    return Case(ChronosBoltModelForForecasting(config), calls)
