"""Where two arms of a row agree, call after call, and where they do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Call = dict[str, Any]
_NO_LEAF = "absent"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one aspect agrees. `difference` says where it first does not.

    `shared` means that torch.compile brings about the very same difference in the original, so
    that it is not the mend's doing.
    """

    equal: bool
    difference: str | None = None
    shared: bool = False

    @property
    def ok(self) -> bool:
        """The mend is not to blame for anything."""
        return self.equal or self.shared


def compare(
    reference: list[Call], measured: list[Call], known: list[Call] | None = None
) -> dict[str, Verdict]:
    """A verdict an aspect on `measured` against `reference`.

    `known` are the calls of the original under the same torch.compile, where there is one.
    """
    verdicts = {}
    for aspect, project in ASPECTS.items():
        difference = _first_difference(reference, measured, project)
        shared = (
            difference is not None
            and known is not None
            and _first_difference(known, measured, project) is None
        )
        verdicts[aspect] = Verdict(difference is None, difference, shared)
    return verdicts


def _leaves(aspect: str) -> Callable[[Call], dict[str, str]]:
    return lambda call: call[aspect]


def _outcome(call: Call) -> dict[str, str]:
    return {**call["outputs"], "exception": str(call["exception"])}


def _records(*fields: str) -> Callable[[Call], dict[str, str]]:
    """Records by their place in the order."""
    return lambda call: {
        f"record {i}": " | ".join(record[f] for f in fields)
        for i, record in enumerate(call["records"])
    }


# What an arm is compared in, and how a call is reduced to it. A record's site is apart: it can
# differ where what the user reads does not.
ASPECTS: dict[str, Callable[[Call], dict[str, str]]] = {
    "outputs": _outcome,
    "arguments": _leaves("arguments"),
    "state": _leaves("state"),
    "records": _records("kind", "name", "level", "message"),
    "record_sites": _records("kind", "message", "site"),
}


def _first_difference(
    reference: list[Call], measured: list[Call], project: Callable[[Call], dict[str, str]]
) -> str | None:
    if len(reference) != len(measured):
        return f"{len(reference)} calls against {len(measured)}"
    for index, (one, other) in enumerate(zip(reference, measured, strict=True)):
        expected, found = project(one), project(other)
        for path in [*expected, *(p for p in found if p not in expected)]:
            a, b = expected.get(path, _NO_LEAF), found.get(path, _NO_LEAF)
            if a != b:
                return f"call {index}, {path}: {a} in the original, {b} here"
    return None
