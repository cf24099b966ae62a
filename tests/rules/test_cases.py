"""Every case of the catalogue: found as declared, mended as written, and the same when it runs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from graphmend.api import check_source, fix_source
from graphmend.cases import Case, cases
from graphmend.findings import Result
from tests.sides import assert_mends

CASES = cases()
MENDED = [case for case in CASES if case.changes]


def ids(case: Case) -> str:
    return f"{case.rule.code}-{case.name}"


def fix(text: str, folder: Path, case: Case) -> Result:
    path = folder / "case.py"
    path.write_bytes(text.encode())
    return fix_source(text, str(path), unsafe=case.unsafe)


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_a_case_is_found_and_mended_as_declared(case: Case, tmp_path: Path) -> None:
    result = fix(case.before, tmp_path, case)
    assert [(f.code, str(f.status)) for f in result.findings] == [e[:2] for e in case.expected]
    for finding, (_, _, reason) in zip(result.findings, case.expected, strict=True):
        assert reason in (finding.reason or "")
    assert result.source == case.after
    ast.parse(result.source)
    checked = check_source(case.before, str(tmp_path / "case.py"), unsafe=case.unsafe)
    found = [(f.code, f.line, f.column, f.reason) for f in result.findings]
    assert [(f.code, f.line, f.column, f.reason) for f in checked] == found


@pytest.mark.parametrize("case", MENDED, ids=ids)
@pytest.mark.semantics("S2", "legal")
def test_a_mended_case_is_left_alone(case: Case, tmp_path: Path) -> None:
    again = fix(case.after, tmp_path, case)
    assert again.source == case.after
    assert [f for f in again.findings if f.status != "refused"] == []


@pytest.mark.parametrize("case", CASES, ids=ids)
@pytest.mark.semantics("S1", "legal")
def test_line_ends_stay(case: Case, tmp_path: Path) -> None:
    result = fix(case.before.replace("\n", "\r\n"), tmp_path, case)
    assert result.source == case.after.replace("\n", "\r\n")


@pytest.mark.parametrize("case", CASES, ids=ids)
@pytest.mark.semantics("S1", "legal")
def test_tabs_stay(case: Case, tmp_path: Path) -> None:
    assert fix(tabs(case.before), tmp_path, case).source == tabs(case.after)


@pytest.mark.parametrize("case", [case for case in MENDED if case.runs], ids=ids)
def test_both_sides_run_alike(case: Case, tmp_path: Path) -> None:
    assert_mends(case.before, tmp_path)


def tabs(text: str) -> str:
    return re.sub("(?m)^( {4})+", lambda indent: "\t" * (len(indent[0]) // 4), text)
