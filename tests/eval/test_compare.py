"""Two results: rows that got better are named, and rows that got worse end with 1."""

import json

import pytest

from eval.__main__ import main


def row(name, breaks=0, fullgraph=True, equal=True, failures=(), recompiles=1):
    counts = {"breaks": breaks, "fullgraph": fullgraph, "recompiles": recompiles}
    return {
        "kind": "row",
        "name": name,
        "before": {"breaks": 9, "fullgraph": False, "recompiles": 9},
        "after": None if failures else counts,
        "equal": equal,
        "failures": dict.fromkeys(failures, "died"),
    }


def zoo(name, before, after, ok=True):
    verdicts = {"mended eager": {"outputs": {"ok": ok}}} if after is not None else {}
    counts = [
        None if n is None else {"breaks": n, "fullgraph": n == 0, "recompiles": 0}
        for n in (before, after)
    ]
    variant = {"before": counts[0], "after": counts[1], "agreement": verdicts}
    return {"name": name, "variants": {"base": variant}}


def compared(folder, old, new, capsys):
    paths = [folder / "old.jsonl", folder / "new.jsonl"]
    for path, rows in zip(paths, (old, new), strict=True):
        path.write_text("".join(json.dumps(r) + "\n" for r in [{"kind": "run"}, *rows]))
    code = main(["compare", *map(str, paths)])
    return code, capsys.readouterr().out


def test_rows_that_stay_as_they_are(tmp_path, capsys):
    rows = [row("a"), zoo("b", 3, 1), zoo("c", 0, None)]
    assert compared(tmp_path, rows, rows, capsys) == (0, "3 rows compared, 0 worse\n")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"breaks": 2}, "breaks 0 -> 2"),
        ({"fullgraph": False}, "no longer passes fullgraph"),
        ({"equal": False}, "no longer equal"),
        ({"recompiles": 4}, "recompiles 1 -> 4"),
        ({"failures": ["mended eager"]}, "it failed"),
    ],
)
def test_a_row_that_got_worse_and_back(tmp_path, capsys, change, said):
    code, out = compared(tmp_path, [row("a")], [row("a", **change)], capsys)
    assert code == 1
    assert f"a: worse: {said}" in out
    code, out = compared(tmp_path, [row("a", **change)], [row("a")], capsys)
    assert code == 0
    assert "a: better: " in out


def test_architectures_are_compared_variant_by_variant(tmp_path, capsys):
    code, out = compared(tmp_path, [zoo("b", 3, 1)], [zoo("b", 3, 2, ok=False)], capsys)
    assert code == 1
    assert "b (base): worse: breaks 1 -> 2, no longer equal" in out


def test_rows_of_one_side_are_named(tmp_path, capsys):
    code, out = compared(tmp_path, [row("a")], [row("a"), row("b")], capsys)
    assert code == 0
    assert out.startswith("b: only in ")
