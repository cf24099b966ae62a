"""One call of a model, with everything about it that a user could notice."""

from __future__ import annotations

import io
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from eval.fingerprint import Leaves, fingerprint, model_state

_TORCH = os.path.dirname(torch.__file__) + os.sep


@dataclass(slots=True)
class Observation:
    """What one call did. Leaves are fingerprints by path; records are in program order."""

    outputs: Leaves = field(default_factory=dict)
    arguments: Leaves = field(default_factory=dict)
    state: Leaves = field(default_factory=dict)
    records: list[dict[str, str]] = field(default_factory=list)
    exception: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The observation as JSON-able data."""
        return asdict(self)


def observe(
    call: Callable[..., Any], arguments: dict[str, Any], model: torch.nn.Module
) -> tuple[Observation, object]:
    """Call once without gradients; returns what was seen and the value itself.

    `call` is the model or its compiled form; the state is always read from `model`.
    """
    seen = Observation()
    value: object = None
    with _listening(seen.records), torch.no_grad():
        try:
            value = call(**arguments)
        except Exception as error:  # the original may raise too: it is part of what is compared
            seen.exception = f"{type(error).__name__}: {error}"
    seen.outputs = fingerprint(value)
    seen.arguments = fingerprint(arguments)
    seen.state = model_state(model)
    return seen, value


@contextmanager
def _listening(records: list[dict[str, str]]) -> Iterator[None]:
    """Append to `records` what the program logs, warns and prints. torch's own talk is left out."""
    handler = _Handler(records)
    loggers = _loggers_that_end_here()
    stdout, show = sys.stdout, warnings.showwarning
    for logger in loggers:
        logger.addHandler(handler)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = _warning_recorder(records)
        sys.stdout = _Stdout(records)
        try:
            yield
        finally:
            sys.stdout, warnings.showwarning = stdout, show
            for logger in loggers:
                logger.removeHandler(handler)


def _loggers_that_end_here() -> list[logging.Logger]:
    """The loggers that together see every record once: the root, and those that do not pass on."""
    known = [item for item in logging.root.manager.loggerDict.values()]
    ends = [item for item in known if isinstance(item, logging.Logger) and not item.propagate]
    return [logging.root, *ends]


class _Handler(logging.Handler):
    def __init__(self, records: list[dict[str, str]]) -> None:
        super().__init__(0)
        self._records = records

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] == "torch":
            return
        self._records.append(
            {
                "kind": "log",
                "name": record.name,
                "level": record.levelname,
                "message": record.getMessage(),
                "site": f"{record.pathname}:{record.lineno}:{record.funcName}",
            }
        )


def _warning_recorder(records: list[dict[str, str]]) -> Callable[..., None]:
    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: object = None,
        line: str | None = None,
    ) -> None:
        if not filename.startswith(_TORCH):
            records.append(
                {
                    "kind": "warning",
                    "name": category.__name__,
                    "level": "",
                    "message": str(message),
                    "site": f"{filename}:{lineno}",
                }
            )

    return show


class _Stdout(io.TextIOBase):
    """Stands for sys.stdout; neighbouring writes make one record."""

    def __init__(self, records: list[dict[str, str]]) -> None:
        self._records = records

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        last = self._records[-1] if self._records else None
        if last is not None and last["kind"] == "stdout":
            last["message"] += text
        else:
            self._records.append(
                {"kind": "stdout", "name": "", "level": "", "message": text, "site": ""}
            )
        return len(text)
