"""Comparison of two arms, on observations made up for it."""

import copy

import pytest

from graphmend.verification.agreement import compare

RECORD = {"kind": "log", "name": "m", "level": "WARNING", "message": "old", "site": "m.py:3:f"}
CALL = {
    "outputs": {"[0]": "float32[2] strides (1,) cpu 0123"},
    "arguments": {"['x']": "float32[2] strides (1,) cpu 4567"},
    "state": {"layer.weight": "float32[2] strides (1,) cpu 89ab"},
    "records": [RECORD],
    "exception": None,
}


def changed(**fields):
    """Three calls, the second one different."""
    return [CALL, {**copy.deepcopy(CALL), **fields}, CALL]


def unequal(verdicts):
    return {aspect for aspect, verdict in verdicts.items() if not verdict.equal}


@pytest.mark.parametrize(
    ("fields", "aspects"),
    [
        ({"outputs": {"[0]": "float32[2] strides (1,) cpu ffff"}}, {"outputs"}),
        ({"outputs": {**CALL["outputs"], "[1]": "int 3"}}, {"outputs"}),
        ({"outputs": {}}, {"outputs"}),
        ({"exception": "ValueError: no"}, {"outputs"}),
        ({"arguments": {"['x']": "changed"}}, {"arguments"}),
        ({"state": {"layer.weight": "changed"}}, {"state"}),
        ({"records": []}, {"records", "record_sites"}),
        ({"records": [RECORD, RECORD]}, {"records", "record_sites"}),
        ({"records": [{**RECORD, "message": "new"}]}, {"records", "record_sites"}),
        ({"records": [{**RECORD, "level": "ERROR"}]}, {"records"}),
        ({"records": [{**RECORD, "site": "m.py:4:f"}]}, {"record_sites"}),
    ],
)
def test_a_difference_in_one_call_is_found_in_its_aspect(fields, aspects):
    verdicts = compare([CALL] * 3, changed(**fields))
    assert unequal(verdicts) == aspects
    assert all(verdicts[aspect].difference.startswith("call 1") for aspect in aspects)
    assert not any(verdicts[aspect].ok for aspect in aspects)


def test_records_in_another_order_differ():
    other = {**RECORD, "message": "new"}
    one, two = changed(records=[RECORD, other]), changed(records=[other, RECORD])
    assert "records" in unequal(compare(one, two))


def test_a_missing_call_differs():
    assert "outputs" in unequal(compare([CALL] * 3, [CALL] * 2))


def test_equal_arms_agree():
    assert not unequal(compare([CALL] * 3, copy.deepcopy([CALL] * 3)))


def test_what_compiling_changes_in_the_original_too_is_not_the_mends_doing():
    off = {"outputs": {"[0]": "float32[2] strides (2,) cpu 0123"}}
    same = compare([CALL] * 3, changed(**off), known=changed(**off))
    assert not same["outputs"].equal and same["outputs"].shared and same["outputs"].ok
    other = compare([CALL] * 3, changed(**off), known=[CALL] * 3)
    assert not other["outputs"].ok
