"""The catalogue is complete, and agrees with the detector and with torch."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest

from graphmend.api import fix_source
from graphmend.cases import cases
from graphmend.catalogue import Rule, UnknownRule, find, rules
from graphmend.detect.site import RULES

ROOT = Path(__file__).parents[2]
HEADINGS = ["What breaks", "Why", "Example", "Fix safety", "Not fixed when"]


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in rules()}) == len(rules())
    assert len({rule.name for rule in rules()}) == len(rules())


def test_the_detector_reports_what_the_catalogue_lists() -> None:
    listed = {rule.code: rule for rule in rules()}
    assert set(listed) == {rule.code for rule in RULES}
    for rule in RULES:
        assert rule.category is listed[rule.code].category
        assert rule.break_type in listed[rule.code].break_types


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
def test_a_rule_is_described(rule: Rule) -> None:
    assert rule.folder.name == rule.name
    assert re.fullmatch(r"GM[1-9]\d\d", rule.code)
    text = rule.text()
    assert text.startswith(f"# {rule.code} {rule.name}\n")
    assert re.findall(r"(?m)^## (.+)$", text) == HEADINGS
    for target in re.findall(r"\]\((\.[^)]+)\)", text):
        assert (rule.folder / target).is_file()


PAGES = [rule.folder / "README.md" for rule in rules()] + [ROOT / "README.md"]
PREAMBLE = """\
import functools
import logging
import sys
import warnings

import torch
from torch import nn

logger = logging.getLogger(__name__)


"""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_an_example_becomes_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    for before, after in pairwise(page.read_text().split("\n\nbecomes\n\n")):
        example, shown = _code(before)[-1], _code(after)[0]
        mended = fix_source(PREAMBLE + example, str(tmp_path / "page.py")).source
        mended = re.sub("  # GM.*", "", mended)
        for part in shown.strip().split("\n\n\n"):
            assert part in mended


def _code(text: str) -> list[str]:
    return re.findall(r"(?s)```python\n(.*?)```", text)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
def test_a_rule_has_cases_and_refusals_among_them(rule: Rule) -> None:
    own = [case for case in cases() if case.rule is rule]
    assert any(not case.changes for case in own)
    assert any(case.changes for case in own) == (rule.grade is not None)
    assert all(any(rule.code == code for code, *_ in c.expected) for c in own if c.expected)


def test_break_types_are_those_of_torch() -> None:
    spec = find_spec("torch")
    assert spec is not None and spec.origin is not None
    registry = Path(spec.origin).parent / "_dynamo" / "graph_break_registry.json"
    entries = json.loads(registry.read_text()).values()
    known = {wording["Gb_type"] for entry in entries for wording in entry}
    assert {b for rule in rules() for b in rule.break_types} <= known


def test_an_unknown_rule_has_a_suggestion() -> None:
    with pytest.raises(UnknownRule, match="did you mean logger-call"):
        find("loger-call")
