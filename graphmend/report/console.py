"""Where a run's output goes: data to stdout, everything else to stderr."""

from __future__ import annotations

import os
import sys


def printable(text: str) -> str:
    """`text` on one line and free of control characters, as file names need not be."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def discard_stdout() -> None:
    """After a broken pipe: the interpreter flushes stdout at exit and would complain again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Console:
    """A reader of stdout that goes away (`| head`) is no error: `closed` is set, and what
    follows is dropped. `quiet` leaves out notes, not errors."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.closed = sys.stdout is None

    def data(self, content: str | bytes) -> None:
        """Write to stdout. Text gets a line end; bytes are written as they are.

        Raises OSError where stdout cannot be written, a full disk say.
        """
        if self.closed or not content:
            return
        if isinstance(content, str):
            encoding = sys.stdout.encoding or "utf-8"
            content = f"{content}\n".encode(encoding, "backslashreplace")
        try:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            self.closed = True
            discard_stdout()

    def note(self, line: str) -> None:
        """A line on stderr that `--quiet` leaves out."""
        if not self.quiet:
            self.error(line)

    def error(self, line: str) -> None:
        """A line on stderr."""
        if sys.stderr is not None:
            print(line, file=sys.stderr, flush=True)
