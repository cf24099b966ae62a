"""Bytes of a Python file to text and back, without losing a byte."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from dataclasses import dataclass
from pathlib import Path

_FOREIGN_BOMS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LONE_CR = re.compile(r"\r(?!\n)")
_LINE_END = re.compile(r"\r?\n")


class SourceError(Exception):
    """A file that cannot be taken as Python source: `path` and one line saying why."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message

    def __reduce__(self) -> tuple[type[SourceError], tuple[Path, str]]:
        """Errors cross process boundaries when files are checked in parallel."""
        return type(self), (self.path, self.message)


@dataclass(frozen=True, slots=True)
class Source:
    r"""The decoded text of a file and what is needed to write it back.

    `text` has no byte order mark and keeps its line ends ("\r\n" stays "\r\n"); `newline` is
    the first line end of the file ("\n" where there is none), for lines that are added.
    """

    path: Path
    text: str
    encoding: str = "utf-8"
    bom: bool = False
    newline: str = "\n"

    def encode(self, text: str) -> bytes:
        """`text` in this file's encoding; SourceError when the encoding lacks a character."""
        try:
            data = text.encode(self.encoding)
        except UnicodeEncodeError as error:
            letter = ascii(error.object[error.start])
            raise SourceError(
                self.path, f"character {letter} does not exist in encoding {self.encoding}"
            ) from None
        return codecs.BOM_UTF8 + data if self.bom else data


def read_source(path: Path) -> Source:
    """Read and decode a file; SourceError when it cannot be read or is not Python text."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(path, f"cannot be read: {error.strerror or error}") from None
    return decode(data, path)


def decode(data: bytes, path: Path) -> Source:
    """Decode the bytes of a Python file as the interpreter would (byte order mark, PEP 263)."""
    if data.startswith(_FOREIGN_BOMS):
        raise SourceError(path, "is UTF-16 or UTF-32, which Python does not read")
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    encoding = _encoding(data, path)
    return source_of(_text(body, encoding, path), path, encoding, bom)


def source_of(text: str, path: Path, encoding: str = "utf-8", bom: bool = False) -> Source:
    """A text that is decoded already, as the file at `path`; SourceError as for `decode`."""
    if (nul := text.find("\0")) >= 0:
        line = text.count("\n", 0, nul) + 1
        raise SourceError(path, f"line {line}: contains a NUL byte")
    if lone := _LONE_CR.search(text):
        line = text.count("\n", 0, lone.start()) + 1
        raise SourceError(path, f"line {line}: a carriage return without a line feed")
    end = _LINE_END.search(text)
    return Source(path, text, encoding, bom, end.group() if end else "\n")


def _encoding(data: bytes, path: Path) -> str:
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        reason = str(error.msg).removesuffix(f" for {str(path)!r}")
        raise SourceError(path, reason) from None
    return "utf-8" if name == "utf-8-sig" else name


def _text(body: bytes, encoding: str, path: Path) -> str:
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        line = _line_at(body, error.start)
        raise SourceError(path, f"line {line}: not valid {encoding}: {error.reason}") from None
    except (LookupError, ValueError) as error:
        raise SourceError(path, f"cannot be decoded as {encoding}: {error}") from None
    try:
        exact = text.encode(encoding) == body
    except ValueError:
        exact = False
    if not exact:
        # Stateful or ambiguous codecs: writing the file back would change untouched bytes.
        raise SourceError(path, f"encoding {encoding} does not give the same bytes back")
    return text


def _line_at(body: bytes, offset: int) -> int:
    return body.count(b"\n", 0, offset) + 1
