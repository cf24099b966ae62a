"""Generate graphmend/data/operators.json from torch: schemas, tags, experiments, then the overlay.

    python -m eval.operators            # write the data
    python -m eval.operators --check    # exit 1 where the data is stale, 2 under another torch

The experiment calls every operator that takes a single tensor on small tensors of each dtype and
shape, and records what its schema leaves out: whether it can fail, whether the result shares the
input's memory, and whether it is a bool or has no dimensions.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import json
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

VERSION = "2.13"
DATA = Path(__file__).parent.parent / "graphmend" / "data"

Facts = dict[str, Any]

# Python namespace -> (the object that holds it, prefix of its operators in aten).
NAMESPACES: dict[str, tuple[Any, str]] = {
    "torch": (torch, ""),
    "torch.Tensor": (torch.Tensor, ""),
    "torch.nn.functional": (torch.nn.functional, ""),
    "torch.linalg": (torch.linalg, "linalg_"),
    "torch.fft": (torch.fft, "fft_"),
    "torch.special": (torch.special, "special_"),
}
# Probing these would change the process, or never return.
NOT_PROBED = {"share_memory_", "pin_memory", "set_flush_denormal", "data_ptr", "cuda"}
DTYPES = [torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float32]
SHAPES = [(), (0,), (1,), (2, 3), (2, 1, 3)]
ORDER = ["params", "tensors", "returns"]
INTS = {"int", "List[int]", "Optional[int]", "Optional[List[int]]"}
# Schemas show these as ints.
ENUMS = {"dtype", "layout", "memory_format"}


def schemas() -> dict[str, list[Any]]:
    """Overloads of every aten operator that Python code can meet, without the out= variants."""
    found: dict[str, list[Any]] = {}
    for schema in torch._C._jit_get_all_schemas():
        name = schema.name.removeprefix("aten::")
        if schema.name.startswith("aten::") and not _fills_out(schema):
            found.setdefault(name, []).append(schema)
    return {name: _tensor_overloads(overloads) for name, overloads in found.items()}


def _fills_out(schema: Any) -> bool:
    """Is this the variant that writes its results to keyword arguments?"""
    written = (a for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write)
    return any(a.kwarg_only for a in written)


def _tensor_overloads(overloads: list[Any]) -> list[Any]:
    """TorchScript's scalar overloads of the same name say nothing about tensors."""
    with_tensors = [s for s in overloads if any("Tensor" in str(a.type) for a in s.arguments)]
    makers = [s for s in overloads if any("Tensor" in str(r.type) for r in s.returns)]
    return with_tensors or makers


def facts_of(name: str, overloads: list[Any], first: str) -> Facts:
    """The facts that schemas and tags tell; `first` names the first parameter in Python."""
    longest = max(overloads, key=lambda s: sum(not a.kwarg_only for a in s.arguments))
    params = [first if a.name == "self" else a.name for a in longest.arguments]
    facts: Facts = {"params": params, "returns": _returns(overloads)}
    facts["tensors"] = [i for i in range(len(params)) if _always_tensor(overloads, i)]
    facts["ints"] = [i for i, p in enumerate(params) if p not in ENUMS and _ints(overloads, i)]
    facts["writes"] = sorted(_aliased(overloads, write=True))
    facts["aliases"] = sorted(_aliased(overloads, write=False) | set(facts["writes"]))
    tags = {tag for s in overloads for tag in _tags(name, s.overload_name)}
    facts["random"] = torch.Tag.nondeterministic_seeded in tags
    facts["pointwise"] = torch.Tag.pointwise in tags
    facts["reads_scalar"] = torch.Tag.data_dependent_output in tags
    facts["dynamic_shape"] = torch.Tag.dynamic_output_shape in tags
    fields = [r.name for s in overloads for r in s.returns if len(s.returns) > 1]
    if facts["returns"] == "tuple" and fields and all(fields):
        facts["fields"] = [r.name for r in overloads[0].returns]
    return facts


def _returns(overloads: list[Any]) -> str:
    kinds = {_return_kind(s) for s in overloads}
    return kinds.pop() if len(kinds) == 1 else "tensor" if "tensor" in kinds else "unknown"


def _return_kind(schema: Any) -> str:
    types = [str(r.type) for r in schema.returns]
    if len(types) > 1:
        return "tuple" if all("Tensor" in t for t in types) else "unknown"
    if not types:
        return "none"
    return {"Tensor": "tensor", "List[Tensor]": "tuple"}.get(types[0], "scalar")


def _always_tensor(overloads: list[Any], position: int) -> bool:
    """Do all overloads take a tensor at this position (those that have it)?"""
    types = [str(s.arguments[position].type) for s in overloads if len(s.arguments) > position]
    return bool(types) and all(t in ("Tensor", "Optional[Tensor]") for t in types)


def _ints(overloads: list[Any], position: int) -> bool:
    """Do all overloads take ints at this position (those that have it)?"""
    types = {str(s.arguments[position].type) for s in overloads if len(s.arguments) > position}
    return bool(types) and types <= INTS


def _aliased(overloads: list[Any], *, write: bool) -> set[int]:
    return {
        i
        for s in overloads
        for i, a in enumerate(s.arguments)
        if a.alias_info is not None and a.alias_info.is_write == write
    }


def _tags(name: str, overload: str) -> Iterable[Any]:
    packet = getattr(torch.ops.aten, name, None)
    found = getattr(packet, overload or "default", None)
    return found.tags if found is not None else ()


def python_facts(function: Callable[..., Any], facts: Facts) -> Facts:
    """The facts with the parameters of a function written in Python, by its signature."""
    parameters = inspect.signature(function).parameters
    facts["params"] = list(parameters)
    annotated = [str(p.annotation) for p in parameters.values()]
    facts["tensors"] = [i for i, a in enumerate(annotated) if _names_tensor(a)]
    facts.pop("ints", None)
    return facts


def _names_tensor(annotation: str) -> bool:
    plain = annotation.removeprefix("<class '").removesuffix("'>").replace(" ", "")
    return plain in ("torch.Tensor", "Tensor", "typing.Optional[torch.Tensor]", "torch.Tensor|None")


def probe(function: Callable[..., Any]) -> Facts:
    """What calling with one small tensor of each dtype and shape shows; empty where none works."""
    failed = shared = False
    no_dimensions, bools = [], []
    for dtype, shape in itertools.product(DTYPES, SHAPES):
        tensor = torch.ones(shape, dtype=dtype)
        try:
            result = function(tensor)
            shared |= isinstance(result, torch.Tensor) and _shares(result, tensor)
        except Exception:
            failed = True
            continue
        if isinstance(result, torch.Tensor) and len(shape) == 2:
            no_dimensions.append(result.dim() == 0)
            # Predicates of uint8 tensors, the booleans of old, are uint8.
            bools.append(result.dtype == torch.bool or dtype in (torch.bool, torch.uint8))
    facts: Facts = {"total": not failed, "zero_dim": bool(no_dimensions) and all(no_dimensions)}
    facts["bool_result"] = bool(bools) and all(bools) and len(bools) > 1
    if shared:
        facts["aliases"] = [0]
    return facts


def _shares(a: torch.Tensor, b: torch.Tensor) -> bool:
    starts = [t.untyped_storage().data_ptr() for t in (a, b) if t.layout is torch.strided]
    return a.numel() > 0 and len(starts) == 2 and starts[0] == starts[1]


def generated() -> dict[str, Facts]:
    """Facts of every public name of the namespaces, without the overlay."""
    by_name = schemas()
    entries: dict[str, Facts] = {}
    for namespace, (holder, prefix) in NAMESPACES.items():
        first = "self" if holder is torch.Tensor else "input"
        for name in sorted(dir(holder)):
            function = getattr(holder, name, None)
            if not callable(function) or isinstance(function, type) or name.startswith("_"):
                continue
            facts = _entry(function, by_name.get(prefix + name), prefix + name, first)
            if facts is not None:
                entries[f"{namespace}.{name}"] = _probed(name, function, facts)
    return entries


def _entry(
    function: Callable[..., Any], overloads: list[Any] | None, name: str, first: str
) -> Facts | None:
    written_in_python = inspect.isfunction(function)
    if overloads:
        facts = facts_of(name, overloads, first)
        signature_known = first == "input" and written_in_python
        return python_facts(function, facts) if signature_known else facts
    if written_in_python and function.__module__ in ("torch.nn.functional", "torch.functional"):
        return python_facts(function, {"returns": "tensor"})
    return None


def _probed(name: str, function: Callable[..., Any], facts: Facts) -> Facts:
    if name in NOT_PROBED or not facts["params"]:
        return facts
    shown = probe(function)
    facts["aliases"] = sorted({*facts.get("aliases", []), *shown.pop("aliases", [])})
    return facts | shown


def merge(entries: dict[str, Facts], overlay: dict[str, list[Facts]]) -> None:
    """Apply the hand-checked facts, in order; a name that matches nothing is an error."""
    for fact in overlay["fact"]:
        for name in fact["names"]:
            targets = (
                [name] if "." in name else [k for k in entries if k.rpartition(".")[2] == name]
            )
            if not targets:
                raise SystemExit(f"overlay.toml: no operator is called {name}")
            for target in targets:
                entry = entries.setdefault(target, {})
                when = {**entry.get("when", {}), **fact["set"].get("when", {})}
                entry.update(fact["set"], **({"when": when} if when else {}))


def modules(overlay: dict[str, list[Facts]]) -> dict[str, Facts]:
    """Facts of the layers of torch.nn; `static` lists attributes that are Python values."""
    entries: dict[str, Facts] = {}
    for name in sorted(dir(torch.nn)):
        layer = getattr(torch.nn, name)
        if isinstance(layer, type) and issubclass(layer, torch.nn.Module):
            static = set(getattr(layer, "__constants__", ())) | set(
                inspect.signature(layer).parameters
            )
            unsure = {"weight", "bias", "args", "kwargs", "modules", "module", "parameters"}
            entries[f"torch.nn.{name}"] = {"returns": "tensor", "static": sorted(static - unsure)}
    for fact in overlay["module"]:
        for name in fact["names"]:
            entries.setdefault(name, {"returns": "tensor", "static": []}).update(fact["set"])
    return entries


def constants() -> list[str]:
    """Names of torch that hold a dtype, a layout or a memory format, and the version."""
    kinds = (torch.dtype, torch.layout, torch.memory_format, float, str)
    return sorted(n for n in dir(torch) if isinstance(getattr(torch, n), kinds) and n[0] != "_")


def text() -> str:
    """The content that operators.json must have: an operator a line."""
    overlay = tomllib.loads((DATA / "overlay.toml").read_text(encoding="utf-8"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        entries = generated()
    merge(entries, overlay)
    layers = modules(overlay)
    lines = [
        f'{{"torch": "{VERSION}",',
        f'"constants": {json.dumps([*constants(), "__version__"])},',
    ]
    lines += ['"operators": {', *_lines(entries), "},", '"modules": {', *_lines(layers), "}}"]
    return "\n".join(lines) + "\n"


def _lines(entries: dict[str, Facts]) -> list[str]:
    rows = [
        f"{json.dumps(name)}: {json.dumps(_compact(entries[name]))}" for name in sorted(entries)
    ]
    return [row + "," for row in rows[:-1]] + rows[-1:]


def _compact(facts: Facts) -> Facts:
    """Only what differs from the defaults, parameters first."""
    kept = {key: value for key, value in facts.items() if value not in (False, [], {}, None)}
    keys = [k for k in ORDER if k in kept] + sorted(k for k in kept if k not in ORDER)
    return {key: kept[key] for key in keys if (key, kept[key]) != ("returns", "tensor")}


def main() -> int:
    """Write the data, or with --check compare it: 0 current, 1 stale, 2 another torch."""
    parser = argparse.ArgumentParser(description="Generate the operator facts from torch.")
    parser.add_argument("--check", action="store_true", help="only say whether they are current")
    arguments = parser.parse_args()
    if not torch.__version__.startswith(VERSION + "."):
        print(
            f"the facts are those of torch {VERSION}, this is {torch.__version__}", file=sys.stderr
        )
        return 2
    target, wanted = DATA / "operators.json", text()
    if arguments.check:
        current = target.exists() and target.read_text(encoding="utf-8") == wanted
        print(
            "operators.json is current" if current else "operators.json is stale", file=sys.stderr
        )
        return 0 if current else 1
    target.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
