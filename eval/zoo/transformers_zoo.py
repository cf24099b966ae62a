"""The architectures of transformers: their model classes, and small models of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.zoo.agreeing import agreeing, matching
from eval.zoo.configs import small_config
from eval.zoo.exceptions import corrected
from eval.zoo.shrink import PLANS, Plan

if TYPE_CHECKING:
    import torch

PACKAGE = "transformers"
_BASE = "MODEL_MAPPING_NAMES"
# A head is looked for in these tables first, then in all others.
_HEADS = (
    "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES",
    "MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES",
    "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_MASKED_LM_MAPPING_NAMES",
    "MODEL_FOR_OBJECT_DETECTION_MAPPING_NAMES",
    "MODEL_FOR_CTC_MAPPING_NAMES",
    "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES",
)


def preload() -> None:
    """Import what most architectures share."""
    import transformers

    for name in ("PreTrainedModel", "GenerationMixin"):
        getattr(transformers, name)


def names() -> list[str]:
    """Every folder of models that has modeling code and a registered class."""
    import transformers

    models = Path(transformers.__file__).parent / "models"
    folders = sorted(p.parent.name for p in models.glob("*/modeling_*.py"))
    return [name for name in dict.fromkeys(folders) if _model_types().get(name)]


def classes(name: str) -> list[str]:
    """The base class of an architecture and a head, or two heads where it has no base class."""
    return _classes(_main_type(name))[:2]


def small_model(name: str, cls: str, plan: Plan) -> torch.nn.Module:
    """A model of that class with a shrunken configuration; raises what its constructor raises."""
    import transformers

    made = getattr(transformers, cls)
    default = matching(_default_config(name), made.config_class)
    model: torch.nn.Module = made(small_config(default, plan))
    return model


def plans(name: str) -> Iterator[Plan]:
    """The plans that make different configurations of this architecture."""
    seen = []
    for plan in PLANS:
        try:
            small = small_config(_default_config(name), plan).to_dict()
        except Exception as error:  # the next plan may suit; the last error is shown by the search
            small = {"error": str(error)}
        if small not in seen:
            seen.append(small)
            yield plan


def _default_config(name: str) -> Any:
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    return agreeing(corrected(PACKAGE, name, CONFIG_MAPPING[_main_type(name)]()))


@cache
def _model_types() -> dict[str, list[str]]:
    """The model types of each folder that have a class, the most comprehensive first."""
    from transformers.models.auto.configuration_auto import (
        CONFIG_MAPPING_NAMES,
        model_type_to_module_name,
    )

    found: dict[str, list[str]] = {}
    for model_type in CONFIG_MAPPING_NAMES:
        if _classes(model_type):
            found.setdefault(model_type_to_module_name(model_type), []).append(model_type)
    return found


def _main_type(name: str) -> str:
    types = _model_types()[name]
    return min(types, key=lambda t: (t.replace("-", "_") != name, len(t)))


@cache
def _classes(model_type: str) -> list[str]:
    from transformers.models.auto import modeling_auto

    tables = [n for n in dir(modeling_auto) if n.startswith("MODEL_") and n.endswith("_NAMES")]
    ordered = [_BASE, *_HEADS, *tables]
    found: list[str] = []
    for table in ordered:
        value = getattr(modeling_auto, table, {}).get(model_type, ())
        found += [value] if isinstance(value, str) else list(value)[:1]
    return list(dict.fromkeys(found))
