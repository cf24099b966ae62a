"""The command line in this process, with a stand-in for the mending itself."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from graphmend import api
from graphmend.cli import main
from graphmend.edits import apply
from graphmend.findings import Category, Finding, Grade, Status
from graphmend.ir.source import SourceError


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode()


Command = Callable[..., Ran]


@pytest.fixture
def graphmend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Run `graphmend ARGS` in an empty folder: `graphmend("check", "a.py", stdin=b"")`."""
    monkeypatch.chdir(tmp_path)

    def run(*args: str, stdin: bytes = b"") -> Ran:
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in "oe")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["graphmend", *args])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            with pytest.raises(SystemExit) as exit_:
                main()
        assert isinstance(exit_.value.code, int)
        return Ran(exit_.value.code, _bytes(out), _bytes(err).decode())

    return run


def _bytes(stream: io.TextIOWrapper) -> bytes:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue()


def stand_in(
    source: str,
    filename: str,
    *,
    unsafe: bool = False,
    select: Collection[str] | None = None,
    ignore: Collection[str] = (),
    generated: bool = False,
    plain: bool = False,
    trap: str = "deferred",
) -> api.Result:
    """Lines tell what becomes of them: `log` is mended, `risky` with --unsafe, `guard` refused."""
    finding = Finding(
        "GM202", Category.LOGGING, filename, 1, 1, 1, 4, "f", "log record", "", Status.FIXED,
        Grade.SAFE,
    )  # fmt: skip
    lines, findings = source.splitlines(keepends=True), []
    for number, text in enumerate(lines, start=1):
        here = replace(finding, line=number, end_line=number)
        match text.strip():
            case "log":
                findings.append(here)
            case "risky":
                status = Status.FIXED if unsafe else Status.REFUSED
                here = replace(here, grade=Grade.UNSAFE, reason="assumes purity", status=status)
                findings.append(here)
            case "guard":
                here = replace(here, code="GM301", category=Category.GUARD, message="guard")
                here = replace(here, status=Status.REFUSED, grade=None, reason="caught above")
                findings.append(here)
            case "broken":
                raise SourceError(Path(filename), f"line {number}: invalid syntax")
            case "crash":
                raise RecursionError("too deep")
    findings = [f for f in findings if select is None or f.code in select]
    edits = [edit(lines, f.line) for f in findings if f.status is Status.FIXED]
    return api.Result(apply(source, edits), tuple(findings), tuple(edits), frozenset())


def edit(lines: list[str], number: int) -> api.Edit:
    """Replace the text of a line, without its line end, by `mended`."""
    start = sum(map(len, lines[: number - 1]))
    return api.Edit(start, start + len(lines[number - 1].rstrip()), "mended", number)


@pytest.fixture
def mender(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mending replaced by `stand_in`."""
    monkeypatch.setattr(api, "fix_source", stand_in)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a file below the current folder, making its folders."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    return write
