"""What a program logs, warns and prints while it runs, in one order."""

from __future__ import annotations

import io
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

Record = dict[str, str]
_TORCH = os.path.dirname(torch.__file__) + os.sep


@contextmanager
def listening(records: list[Record], level: int | None = None) -> Iterator[None]:
    """Append to `records` what the program logs, warns and prints. torch's own talk is left out.

    `level` is the level of the root logger meanwhile; None leaves it.
    """
    handler = _Handler(records)
    loggers = _loggers_that_end_here()
    stdout, stderr, show = sys.stdout, sys.stderr, warnings.showwarning
    for logger in loggers:
        logger.addHandler(handler)
    with warnings.catch_warnings(), _levels(level):
        warnings.simplefilter("always")
        warnings.showwarning = _warning_recorder(records)
        sys.stdout, sys.stderr = _Stream(records, "stdout"), _Stream(records, "stderr")
        try:
            yield
        finally:
            sys.stdout, sys.stderr, warnings.showwarning = stdout, stderr, show
            for logger in loggers:
                logger.removeHandler(handler)


def _loggers_that_end_here() -> list[logging.Logger]:
    """The loggers that together see every record once: the root, and those that do not pass on."""
    known = [item for item in logging.root.manager.loggerDict.values()]
    ends = [item for item in known if isinstance(item, logging.Logger) and not item.propagate]
    return [logging.root, *ends]


@contextmanager
def _levels(level: int | None) -> Iterator[None]:
    if level is None:
        yield
        return
    own = logging.getLogger("torch")
    before = logging.root.level, own.level
    logging.root.setLevel(level)
    own.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logging.root.setLevel(before[0])
        own.setLevel(before[1])


class _Handler(logging.Handler):
    def __init__(self, records: list[Record]) -> None:
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


def _warning_recorder(records: list[Record]) -> Callable[..., None]:
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


class _Stream(io.TextIOBase):
    """Stands for sys.stdout or sys.stderr; neighbouring writes make one record."""

    def __init__(self, records: list[Record], kind: str) -> None:
        self._records = records
        self._kind = kind

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        last = self._records[-1] if self._records else None
        if last is not None and last["kind"] == self._kind:
            last["message"] += text
        else:
            self._records.append(
                {"kind": self._kind, "name": "", "level": "", "message": text, "site": ""}
            )
        return len(text)
