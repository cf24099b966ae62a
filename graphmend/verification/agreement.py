"""Where two arms agree, call after call, and where they do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

Call = dict[str, Any]
Projection = Callable[[Call], dict[str, str]]
_NO_LEAF = "absent"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one aspect agrees. `difference` says where it first does not.

    `shared` means that torch.compile brings about the very same difference in the original, in
    every call that differs, so that it is not the mend's doing.
    """

    equal: bool
    difference: str | None = None
    shared: bool = False

    @property
    def ok(self) -> bool:
        """The mend is not to blame for anything."""
        return self.equal or self.shared

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON-able data."""
        return {**asdict(self), "ok": self.ok}


def _leaves(aspect: str) -> Projection:
    return lambda call: call.get(aspect, {})


def _records(*fields: str) -> Projection:
    """Records by their place in the order."""
    return lambda call: {
        f"record {i}": " | ".join(record[f] for f in fields)
        for i, record in enumerate(call["records"])
    }


def _exception(call: Call) -> dict[str, str]:
    return {"exception": str(call["exception"]), **call.get("raised", {})}


def _outcome(call: Call) -> dict[str, str]:
    return {**call["outputs"], "exception": str(call["exception"])}


# What an arm is compared in, and how a call is reduced to it. A record's site is apart: it can
# differ where what the user reads does not.
ASPECTS: dict[str, Projection] = {
    "outputs": _outcome,
    "arguments": _leaves("arguments"),
    "state": _leaves("state"),
    "records": _records("kind", "name", "level", "message"),
    "record_sites": _records("kind", "message", "site"),
}
ALL_ASPECTS: dict[str, Projection] = {
    "exception": _exception,
    **ASPECTS,
    "outputs": _leaves("outputs"),
    "aliases": _leaves("aliases"),
    "gradients": _leaves("gradients"),
    "random": _leaves("random"),
}


def compare(
    reference: Sequence[Call],
    measured: Sequence[Call],
    known: Sequence[Call] | None = None,
    aspects: Mapping[str, Projection] = ASPECTS,
) -> dict[str, Verdict]:
    """A verdict an aspect on `measured` against `reference`.

    `known` are the calls of the original under the same torch.compile, where there is one.
    """
    if len(reference) != len(measured):
        lengths = f"{len(reference)} calls against {len(measured)}"
        return {aspect: Verdict(False, lengths) for aspect in aspects}
    return {
        aspect: _verdict(reference, measured, known, project) for aspect, project in aspects.items()
    }


def _verdict(
    reference: Sequence[Call],
    measured: Sequence[Call],
    known: Sequence[Call] | None,
    project: Projection,
) -> Verdict:
    excused = None
    for index, (one, other) in enumerate(zip(reference, measured, strict=True)):
        expected, found = project(one), project(other)
        difference = first_difference(expected, found)
        if difference is None:
            continue
        text = f"call {index}, {difference}"
        if known is None or index >= len(known) or project(known[index]) != found:
            return Verdict(False, text)
        excused = excused or text
    return Verdict(excused is None, excused, shared=excused is not None)


def first_difference(expected: Mapping[str, str], found: Mapping[str, str]) -> str | None:
    """The first leaf in which two sets of leaves differ, in words."""
    for path in [*expected, *(p for p in found if p not in expected)]:
        a, b = expected.get(path, _NO_LEAF), found.get(path, _NO_LEAF)
        if a != b:
            return f"{path}: {a} in the original, {b} here"
    return None
