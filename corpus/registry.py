"""The rows of the published table.

Most models are in transformers 4.52.4 itself. Those whose code is on a hub are represented by
look-alikes. Importing this needs neither torch nor transformers. Published figures: arXiv
2509.16248 v4, table 2. Where the count of a shrunken model is not the published one, it is the
code path or the release of torch that differs, not the weights.
"""

from __future__ import annotations

from corpus.recipe import Recipe


def _lookalike(name: str, function: str, cause: str, *figures: int | None) -> Recipe:
    module = "corpus.lookalikes"
    return Recipe(name, f"{module}:{function}", cause, *figures, packages=(module,), lookalike=True)


TABLE2: tuple[Recipe, ...] = (
    Recipe("t5", "corpus.seq2seq:t5", "LC 3", 3, 0, 3, 100),
    Recipe("whisper", "corpus.seq2seq:whisper", "LC 3", 3, 0, 3, 100),
    Recipe("bart-fp16", "corpus.seq2seq:bart_fp16", "DC 4, LC 3", 7, 0, 7, 100),
    Recipe("bart-fp32", "corpus.seq2seq:bart_fp32", "LC 3", 3, 0),
    Recipe("marian-fp16", "corpus.seq2seq:marian_fp16", "DC 3, LC 3", 6, 0, 6, 100),
    Recipe("biogpt", "corpus.decoders:biogpt", "LC 2", 2, 0, 2, 100),
    Recipe("blenderbot", "corpus.seq2seq:blenderbot", "LC 3", 3, 0, 3, 100),
    Recipe("pegasus", "corpus.decoders:pegasus", "LC 2", 2, 0, 2, 100),
    Recipe("phi-4", "corpus.decoders:phi4", "DC 5", 5, 0, 5, 100),
    Recipe("layoutlmv3", "corpus.encoders:layoutlmv3", "LC 2", 2, 0, 2, 100),
    Recipe("longformer", "corpus.encoders:longformer", "LC 3, TI 2", 5, 3, 5, 40),
    Recipe(
        "grounding-dino", "corpus.encoders:grounding_dino", "DS 3, DO 3, DC 11", 17, None, 17, 58
    ),
    Recipe("clap", "corpus.encoders:clap", "DS 4", 2, None, 4, 0),
    Recipe(
        "chronos-bolt",
        "corpus.forecasting:chronos_bolt",
        "LC 6",
        6,
        0,
        6,
        100,
        packages=("transformers", "chronos"),
        requires=("transformers==4.52.4", "chronos-forecasting==2.3.2"),
    ),
    _lookalike("florence-2", "florence_2", "DC 7", 7, 0, 7, 100),
    _lookalike("qwen-audio", "qwen_audio", "DC 2", 2, 0, 2, 100),
    _lookalike("molformer", "molformer", "VG 5", 5, 0, 5, 100),
    _lookalike("moe-minicpm", "moe_minicpm", "DS 15", 7, None, 15, 0),
    _lookalike("stella", "stella", "DO, DS 4", 4, None, 4, 0),
)


def recipe(name: str) -> Recipe:
    """The recipe of that name; KeyError where there is none."""
    return {r.name: r for r in TABLE2}[name]
