"""What `check` and `fix` print, write and exit with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("mender")


def test_nothing_found_is_silent_on_stdout(graphmend, write):
    write("a.py", "x = 1\n")
    ran = graphmend("check", "a.py")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "0 break sites in 1 file\n"


def test_a_refused_site_is_shown_with_its_reason_and_left(graphmend, write):
    path = write("a.py", "x\nguard\n")
    ran = graphmend("fix", "a.py")
    assert ran.code == 1
    assert ran.out == "a.py:2:1: GM301 guard [refused: caught above]\n"
    assert path.read_text() == "x\nguard\n"
    assert ran.err == "0 sites mended in 0 files, 1 left: 1 refused\n"


def test_check_reports_and_writes_nothing(graphmend, write):
    path = write("a.py", "log\nrisky\n")
    ran = graphmend("check", "a.py")
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "a.py:1:1: GM202 log record [fixable]",
        "a.py:2:1: GM202 log record [refused: assumes purity; --unsafe mends it]",
    ]
    assert path.read_text() == "log\nrisky\n"
    assert ran.err == "2 break sites in 1 file: 1 fixable, 1 fixable with --unsafe\n"


def test_fix_writes_and_lists_what_is_left(graphmend, write):
    path = write("a.py", "log\nrisky\n")
    ran = graphmend("fix", "a.py")
    assert ran.code == 1
    assert ran.out == "a.py:2:1: GM202 log record [refused: assumes purity; --unsafe mends it]\n"
    assert path.read_text() == "mended\nrisky\n"
    assert ran.err == "1 site mended in 1 file, 1 left: 1 fixable with --unsafe\n"


def test_fix_unsafe_leaves_nothing(graphmend, write):
    path = write("a.py", "log\nrisky\n")
    ran = graphmend("fix", "--unsafe", "a.py")
    assert (ran.code, ran.out, path.read_text()) == (0, "", "mended\nmended\n")


def test_check_unsafe_names_the_assumption(graphmend, write):
    write("a.py", "risky\n")
    out = graphmend("check", "--unsafe", "a.py").out
    assert out == "a.py:1:1: GM202 log record [fixable, unsafe: assumes purity]\n"


def test_exit_zero_hides_findings_not_errors(graphmend, write):
    write("a.py", "guard\n")
    assert graphmend("check", "--exit-zero", "a.py").code == 0
    assert graphmend("check", "--exit-zero", "a.py", "missing.py").code == 2


def test_quiet_leaves_out_the_summary_only(graphmend, write):
    write("a.py", "guard\n")
    ran = graphmend("check", "-q", "a.py", "missing.py")
    assert ran.out == "a.py:1:1: GM301 guard [refused: caught above]\n"
    assert ran.err == "error: missing.py: no such file or folder\n"


def test_select_and_ignore_take_prefixes_and_the_longer_one_wins(graphmend, write):
    write("a.py", "log\nguard\n")
    assert "GM202" not in graphmend("check", "--ignore", "GM2", "a.py").out
    assert "GM301" not in graphmend("check", "--select", "GM20", "a.py").out
    out = graphmend("check", "--select", "GM202,gm3", "--ignore", "GM2,GM301", "a.py").out
    assert [line.split()[1] for line in out.splitlines()] == ["GM202"]
    assert graphmend("check", "--ignore", "GM", "a.py").code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--select", "GM2021", "a.py"], "did you mean GM202?"),
        (["--ignore", "XX1", "a.py"], "no rule 'XX1'"),
        (["-", "a.py"], "cannot be combined"),
        (["--stdin-filename", "b.py", "a.py"], "needs -"),
        ([], "Missing argument"),
        (["-j", "0", "a.py"], "x>=1"),
    ],
)
def test_wrong_usage_exits_with_two_and_says_why(graphmend, write, arguments, says):
    write("a.py", "guard\n")
    ran = graphmend("check", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_json_holds_findings_and_errors(graphmend, write):
    write("a.py", "log\nguard\n")
    ran = graphmend("check", "--format", "json", "a.py", "missing.py")
    content = json.loads(ran.out)
    assert ran.code == 2
    assert content["version"]
    assert content["errors"] == [{"path": "missing.py", "message": "no such file or folder"}]
    first, second = content["findings"]
    assert (first["code"], first["category"], first["path"]) == ("GM202", "LC", "a.py")
    assert (first["line"], first["column"], first["message"]) == (1, 1, "log record")
    assert (first["status"], first["grade"], first["reason"]) == ("fixable", "safe", None)
    assert (second["status"], second["grade"]) == ("refused", None)
    assert second["reason"] == "caught above"


def test_json_of_a_fix_holds_fixed_and_remaining_findings(graphmend, write):
    write("a.py", "log\nguard\n")
    ran = graphmend("fix", "--format", "json", "a.py")
    assert [f["status"] for f in json.loads(ran.out)["findings"]] == ["fixed", "refused"]
    assert ran.code == 1


def test_json_of_an_empty_run_is_still_a_document(graphmend, write):
    write("a.py", "")
    content = json.loads(graphmend("check", "--format", "json", "a.py").out)
    assert (content["findings"], content["errors"]) == ([], [])


def test_diff_shows_the_change_and_writes_nothing(graphmend, write):
    path = write("sub/a.py", "x = 1\nlog\n")
    ran = graphmend("fix", "--diff", "sub")
    assert ran.out == "--- sub/a.py\n+++ sub/a.py\n@@ -1,2 +1,2 @@\n x = 1\n-log\n+mended\n"
    assert (ran.code, path.read_text()) == (1, "x = 1\nlog\n")


def test_diff_keeps_line_ends_and_encodings(graphmend, tmp_path):
    data = "# coding: latin-1\r\n# é\r\nlog".encode("latin-1")
    (tmp_path / "a.py").write_bytes(data)
    ran = graphmend("fix", "--diff", "a.py")
    assert b" # \xe9\r\n-log\n\\ No newline at end of file\n+mended\n\\ No newline" in ran.raw
    assert (tmp_path / "a.py").read_bytes() == data


def test_diff_and_json_do_not_mix(graphmend, write):
    write("a.py", "log\n")
    assert graphmend("fix", "--diff", "--format", "json", "a.py").code == 2


@pytest.mark.semantics("S1", "legal")
def test_fix_keeps_encoding_byte_order_mark_and_line_ends(graphmend, tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbf# \xc3\xa9\r\nlog\r\n")
    assert graphmend("fix", "a.py").code == 0
    assert path.read_bytes() == b"\xef\xbb\xbf# \xc3\xa9\r\nmended\r\n"


class TestStdin:
    def test_check_names_it_as_told(self, graphmend):
        ran = graphmend("check", "-", "--stdin-filename", "pkg/a.py", stdin=b"guard\n")
        assert (ran.code, ran.out) == (1, "pkg/a.py:1:1: GM301 guard [refused: caught above]\n")
        assert graphmend("check", "-", stdin=b"guard\n").out.startswith("-:1:1: GM301")

    def test_fix_is_a_filter(self, graphmend):
        ran = graphmend("fix", "-", stdin=b"a\r\nlog\r\nguard\r\n")
        assert (ran.code, ran.raw) == (1, b"a\r\nmended\r\nguard\r\n")
        assert "1 site mended in 1 file, 1 left: 1 refused" in ran.err

    @pytest.mark.parametrize("text", [b"x = 1", b"", b"broken\n", b"crash\n", b"\xff\x00\n"])
    @pytest.mark.semantics("S4", "refused")
    @pytest.mark.semantics("S2", "refused")
    def test_a_filter_never_loses_text(self, graphmend, text):
        assert graphmend("fix", "-", stdin=text).raw == text

    def test_json_of_a_fix_holds_the_text(self, graphmend):
        ran = graphmend("fix", "-", "--format", "json", stdin="# é\nlog\n".encode())
        assert json.loads(ran.out)["source"] == "# é\nmended\n"

    def test_diff(self, graphmend):
        ran = graphmend("fix", "--diff", "-", "--stdin-filename", "a.py", stdin=b"log\n")
        assert ran.out == "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-log\n+mended\n"


def test_order_is_that_of_the_arguments_then_of_the_names(graphmend, write):
    for name in ("b/z.py", "b/a/y.py", "b/c.py", "a.py"):
        write(name, "guard\n")
    out = graphmend("check", "b", "a.py", "b/c.py").out
    assert [line.split(":")[0] for line in out.splitlines()] == [
        "b/c.py", "b/z.py", "b/a/y.py", "a.py",
    ]  # fmt: skip


def test_explain_prints_the_page_of_a_rule(graphmend):
    by_code, by_name = graphmend("explain", "gm202"), graphmend("explain", "logger-call")
    assert by_code.code == 0
    assert by_code.out == by_name.out
    assert "## Fix safety" in by_code.out
    assert "GM202" in graphmend("explain").out


def test_explain_lists_the_rules_of_a_prefix(graphmend):
    lines = graphmend("explain", "gm30").out.splitlines()
    assert [line.split()[0] for line in lines] == ["GM301", "GM302", "GM303"]


def test_explain_suggests_a_near_rule(graphmend):
    ran = graphmend("explain", "GM2022")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean GM202?" in ran.err


def test_paths_that_do_not_print_stay_on_one_line(graphmend, tmp_path: Path):
    (tmp_path / "a\nb.py").write_text("guard\n")
    assert graphmend("check", ".").out == "a\\nb.py:1:1: GM301 guard [refused: caught above]\n"
