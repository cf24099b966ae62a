"""Asserts of plain torch in front of guards: the text, what comes out, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.rewrite.test_trap_async import HEAD, fixed, sides
from tests.sides import assert_same

pytestmark = pytest.mark.usefixtures("imported_compiler")

ASSUMED = (
    "assumes that nothing catches the guard's exception: compiled, a RuntimeError with this "
    "message comes out"
)
PLAIN = (
    HEAD
    + """
def entry(x: torch.Tensor, y: torch.Tensor, strict: bool):
    if torch.isnan(x).any():  # explain
        raise ValueError("nan")
    if not x.ndim:
        return x
    elif strict and not (torch.isfinite(y).all() and torch.isfinite(x).all()):
        raise RuntimeError  # no message
    if not y.sum():
        raise TypeError()
    return x * 2

def make():
    one, nan = torch.ones(2), torch.tensor([1.0, float("nan")])
    return entry, [
        (one, one, True), (nan, one, True), (one, nan, True), (one, nan, False),
        (one, one * 0, True), (nan, nan, True),
    ]
"""
)


@pytest.mark.semantics("X3", "legal")
def test_plain_asserts_stand_in_front_of_the_guards(tmp_path: Path) -> None:
    result = fixed(PLAIN, tmp_path, plain=True, unsafe=True)
    assert [(f.status, f.grade, f.reason) for f in result.findings] == [
        ("fixed", "unsafe", ASSUMED)
    ] * 3
    body = result.source[result.source.index("def entry") : result.source.index("def make")]
    assert (
        body.rstrip()
        == """\
def entry(x: torch.Tensor, y: torch.Tensor, strict: bool):
    if torch.compiler.is_compiling():
        torch._assert_async(torch.logical_not(torch.isnan(x).any()), "nan")
    elif torch.isnan(x).any():  # explain
        raise ValueError("nan")
    if not x.ndim:
        return x
    elif torch.compiler.is_compiling():
        if strict:
            torch._assert_async(
                torch.logical_and(torch.isfinite(y).all(), torch.isfinite(x).all()),
                "RuntimeError",
            )
    elif strict and not (torch.isfinite(y).all() and torch.isfinite(x).all()):
        raise RuntimeError  # no message
    if torch.compiler.is_compiling():
        torch._assert_async((y.sum()) != 0, "TypeError")
    elif not y.sum():
        raise TypeError()
    return x * 2"""
    )
    assert "graphmend" not in result.source
    assert fixed(result.source, tmp_path, plain=True, unsafe=True).source == result.source
    assert fixed(result.source, tmp_path).findings == ()


@pytest.mark.semantics("X3", "refused")
def test_plain_asserts_are_left_without_unsafe(tmp_path: Path) -> None:
    result = fixed(PLAIN, tmp_path, plain=True)
    assert result.source == PLAIN
    assert [(f.status, f.reason) for f in result.findings] == [("refused", ASSUMED)] * 3


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_plain_assert_fails_with_the_message_alone(backend: str, tmp_path: Path) -> None:
    mended = fixed(PLAIN, tmp_path, plain=True, unsafe=True).source
    for original, compiled in sides(PLAIN, mended, tmp_path, backend):
        if original.error is not None:
            expected = original.error[1] or original.error[0].__name__
            assert compiled.error is not None
            assert compiled.error[:2] == (RuntimeError, expected)
        else:
            assert_same(original, compiled)


def test_a_plain_assert_changes_nothing_eagerly(tmp_path: Path) -> None:
    mended = fixed(PLAIN, tmp_path, plain=True, unsafe=True).source
    for original, eager in sides(PLAIN, mended, tmp_path, None):
        assert_same(original, eager)


PLAIN_REFUSED = {
    "its message is no literal": """
def entry(x):
    if (x < 0).any():
        raise ValueError(f"negative in {x.shape}")
    return x * 2
""",
    "TorchDynamo itself keeps asserts in the graph": """
def entry(x):
    assert (x > 0).all(), "negative"
    return x * 2
""",
    "cannot be evaluated where Python might skip it": """
def entry(x, y):
    if (x < 0).any() or (x @ y < 0).any():
        raise ValueError("negative")
    return x * 2
""",
    "`torch` is not what the name stands for here": """
from torch import isnan

def entry(x, torch: bool):
    if isnan(x).any():
        raise ValueError("nan")
    return x * 2
""",
    "does nothing else, becomes": """
def entry(x):
    if (x < 0).any():
        print("negative")
        raise ValueError("negative")
    return x * 2
""",
}


@pytest.mark.parametrize("reason", PLAIN_REFUSED)
@pytest.mark.semantics("X3", "refused")
def test_a_plain_assert_is_refused(reason: str, tmp_path: Path) -> None:
    text = HEAD + PLAIN_REFUSED[reason] + "\nimport torch as t\ncompiled = t.compile(entry)\n"
    result = fixed(text, tmp_path, plain=True, unsafe=True)
    (finding,) = [f for f in result.findings if f.code.startswith("GM3")]
    assert finding.status == "refused" and reason in (finding.reason or ""), finding.reason


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
@pytest.mark.semantics("S1", "legal")
def test_line_ends_and_tabs_stay(newline: str, tmp_path: Path) -> None:
    text = re.sub("(?m)^    ", "\t", PLAIN).replace("\n", newline)
    expected = re.sub("(?m)^    ", "\t", fixed(PLAIN, tmp_path, plain=True, unsafe=True).source)
    mended = fixed(text, tmp_path, plain=True, unsafe=True).source
    assert mended.count(newline) == mended.count("\n")
    assert mended.replace("\t", "").split() == expected.replace("\t", "").split()


# -- the detector's part --------------------------------------------------------------


@pytest.mark.parametrize(
    "branch",
    [
        """
    if torch.compiler.is_compiling():
        x = x + 1
    elif (x < 0).any():
        raise ValueError("negative")
""",
        """
    if not torch.compiler.is_compiling():
        print(x)
        if (x < 0).any():
            raise ValueError("negative")
""",
        """
    if not torch.compiler.is_compiling() and (x < 0).any():
        raise ValueError("negative")
""",
    ],
    ids=["elif", "not", "and"],
)
def test_what_only_runs_uncompiled_is_no_site(branch: str, tmp_path: Path) -> None:
    text = f"{HEAD}\ndef entry(x):{branch}    return x * 2\n"
    assert fixed(text, tmp_path).findings == ()


def test_what_runs_compiled_is_a_site(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
def entry(x):
    if torch.compiler.is_compiling():
        print(x)
        return x
    elif (x < 0).any():
        raise ValueError("negative")
    return x * 2
"""
    )
    assert [f.code for f in fixed(text, tmp_path).findings] == ["GM201"]
