"""Bytes in, the same bytes out; what is no Python text is refused with one clear line."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from graphmend.ir.module import Module
from graphmend.ir.source import Source, SourceError, decode, read_source
from tests.ir.samples import standard_library

PATH = Path("file.py")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x = 1\ny = '\0'\n", "line 2: contains a NUL byte"),
        (b"x = '\xff'\n", "invalid or missing encoding declaration"),
        (b"#\n#\nx = 1\ny = '\xff'\n", "line 4: not valid utf-8: invalid start byte"),
        (b"x = 1\ny = 2\rz = 3\n", "line 2: a carriage return without a line feed"),
        (b"x = 1\r\r\n", "line 1: a carriage return without a line feed"),
        (b"# coding: klingon\n", "unknown encoding: klingon"),
        (b"# coding: rot13\nk = 1\n", "cannot be decoded as rot13"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "encoding problem: utf-8"),
        ("x = 1\n".encode("utf-16"), "is UTF-16 or UTF-32, which Python does not read"),
        ("x = 1\n".encode("utf-32"), "is UTF-16 or UTF-32, which Python does not read"),
        (b"# coding: utf-7\nx = '+AEE-'\n", "does not give the same bytes back"),
        (b"# coding: ascii\nx = '\xe9'\n", "line 2: not valid ascii: ordinal not in range(128)"),
    ],
)
@pytest.mark.semantics("S1", "refused")
@pytest.mark.semantics("S4", "refused")
def test_refused_bytes(data: bytes, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        decode(data, PATH)
    assert message in caught.value.message
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("file.py: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(:\n  pass\n", "line 1: invalid syntax"),
        ("x = 1\n  y = 2\n", "line 2: unexpected indent"),
        ("(" * 300 + ")" * 300, "too many nested parentheses"),
        ("-" * 100_000 + "1\n", ""),
        ("x = '\ud800'\n", "cannot be parsed"),
    ],
)
def test_refused_syntax(text: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        Module.parse(Source(PATH, text), "file")
    assert message in caught.value.message
    assert "\n" not in caught.value.message


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read: No such file"):
        read_source(tmp_path / "absent.py")
    with pytest.raises(SourceError, match="cannot be read: Is a directory"):
        read_source(tmp_path)


def test_what_an_encoding_lacks_cannot_be_written() -> None:
    source = decode(b"# coding: latin-1\nx = '\xe9'\n", PATH)
    with pytest.raises(SourceError, match=r"character '\\u20ac' does not exist in encoding"):
        source.encode("# coding: latin-1\nx = '€'\n")


def test_errors_cross_process_boundaries() -> None:
    error = pickle.loads(pickle.dumps(SourceError(PATH, "is bad")))
    assert (error.path, error.message) == (PATH, "is bad")


@pytest.mark.parametrize(
    ("data", "encoding", "bom", "newline"),
    [
        (b"", "utf-8", False, "\n"),
        (b"x = 1", "utf-8", False, "\n"),
        (b"x = 1\r\ny = 2\n", "utf-8", False, "\r\n"),
        (b"\xef\xbb\xbfx = 1\r\n", "utf-8", True, "\r\n"),
        (b"\xef\xbb\xbf# coding: utf-8\nx = 1\n", "utf-8", True, "\n"),
        ("x = 'ä€😀'\n".encode(), "utf-8", False, "\n"),
        (b"#!/usr/bin/python\n# -*- coding: latin-1 -*-\nx = '\xe9'\n", "iso-8859-1", False, "\n"),
        ("# vim: set fileencoding=cp1252 :\nx = '€'\n".encode("cp1252"), "cp1252", False, "\n"),
        (b"if x:\n\ty = 1\n\x0c\nz = 2 \\\n  + 1", "utf-8", False, "\n"),
    ],
)
@pytest.mark.semantics("S1", "legal")
def test_round_trip(data: bytes, encoding: str, bom: bool, newline: str) -> None:
    source = decode(data, PATH)
    assert (source.encoding, source.bom, source.newline) == (encoding, bom, newline)
    assert source.encode(source.text) == data


def _check(path: Path) -> None:
    data = path.read_bytes()
    source = decode(data, path)
    assert source.encode(source.text) == data


def test_every_file_round_trips() -> None:
    for path in standard_library(every=5):
        _check(path)


@pytest.mark.slow
def test_every_file_round_trips_everywhere(libraries: list[Path]) -> None:
    for path in libraries:
        _check(path)
