"""Which files are read, and that a file is either written whole or left as it was."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from graphmend import api
from tests.cli.conftest import stand_in

pytestmark = pytest.mark.usefixtures("mender")


def names(out: str) -> list[str]:
    return [line.split(":")[0] for line in out.splitlines()]


class TestProblems:
    """One clear line each on stderr, exit status 2, and the rest is still done."""

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (b"broken\n", "line 1: invalid syntax"),
            (b"x = 1\n\0", "NUL byte"),
            (b"# coding: utf-8\nx = '\xe9'\n", "utf-8"),
            (b"# coding: no-such-codec\n", "no-such-codec"),
            (b"\xff\xfex\x00", "UTF-16"),
            (b"x = 1\ry = 2\n", "carriage return"),
        ],
    )
    @pytest.mark.semantics("S4", "refused")
    @pytest.mark.semantics("S1", "refused")
    def test_text_that_is_no_python(self, graphmend, write, tmp_path, content, says):
        (tmp_path / "bad.py").write_bytes(content)
        good = write("good.py", "log\n")
        ran = graphmend("fix", "bad.py", "good.py")
        assert ran.code == 2
        errors = [line for line in ran.err.splitlines() if line.startswith("error:")]
        assert len(errors) == 1
        assert errors[0].startswith("error: bad.py: ")
        assert says in errors[0]
        assert (tmp_path / "bad.py").read_bytes() == content
        assert good.read_text() == "mended\n"

    @pytest.mark.semantics("S2", "refused")
    def test_an_internal_error_leaves_the_file_and_asks_for_a_report(self, graphmend, write):
        path = write("a.py", "log\ncrash\n")
        good = write("b.py", "log\n")
        ran = graphmend("fix", "a.py", "b.py")
        assert ran.code == 2
        assert "a.py: internal error, please report" in ran.err
        assert "RecursionError: too deep" in ran.err
        assert "Traceback" not in ran.err
        assert (path.read_text(), good.read_text()) == ("log\ncrash\n", "mended\n")

    def test_its_traceback_on_request(self, graphmend, write, monkeypatch):
        write("a.py", "crash\n")
        monkeypatch.setenv("GRAPHMEND_DEBUG", "1")
        assert "Traceback (most recent call last)" in graphmend("check", "a.py").err

    @pytest.mark.semantics("S4", "refused")
    def test_a_file_that_cannot_be_read(self, graphmend, write, monkeypatch):
        write("a.py", "guard\n")
        write("b.py", "guard\n")
        read = Path.read_bytes

        def refuse(path: Path) -> bytes:
            if path.name == "a.py":
                raise PermissionError(13, "Permission denied", str(path))
            return read(path)

        monkeypatch.setattr(Path, "read_bytes", refuse)
        ran = graphmend("check", ".")
        assert (ran.code, names(ran.out)) == (2, ["b.py"])
        assert "error: a.py: cannot be read: permission denied\n" in ran.err

    @pytest.mark.semantics("S4", "refused")
    def test_a_folder_that_cannot_be_read(self, graphmend, write, monkeypatch):
        write("closed/a.py", "guard\n")
        write("open/a.py", "guard\n")
        scan = os.scandir

        def refuse(path: str):
            if path == "closed":
                raise PermissionError(13, "Permission denied", path)
            return scan(path)

        monkeypatch.setattr(os, "scandir", refuse)
        ran = graphmend("check", ".")
        assert (ran.code, names(ran.out)) == (2, ["open/a.py"])
        assert "error: closed: permission denied\n" in ran.err

    def test_what_is_no_file(self, graphmend, tmp_path):
        os.mkfifo(tmp_path / "pipe.py")
        ran = graphmend("check", "pipe.py", "missing.py")
        assert ran.code == 2
        assert ran.err.splitlines()[:2] == [
            "error: pipe.py: not a regular file",
            "error: missing.py: no such file or folder",
        ]

    def test_a_folder_without_python_files_is_said(self, graphmend, write):
        write("docs/a.md", "guard\n")
        ran = graphmend("check", "docs")
        assert (ran.code, ran.out) == (0, "")
        assert "docs: no Python files in this folder" in ran.err


class TestDiscovery:
    def test_folders_that_hold_no_sources_are_left_out(self, graphmend, write):
        for folder in (
            *(".hidden", "__pycache__", "node_modules"),
            *("build", "sub/dist", "lib/site-packages", "env"),
        ):
            write(f"{folder}/a.py", "guard\n")
        write("env/pyvenv.cfg", "")
        write("pkg/a.py", "guard\n")
        assert names(graphmend("check", ".").out) == ["pkg/a.py"]

    def test_a_package_named_build_is_read(self, graphmend, write):
        write("build/__init__.py", "guard\n")
        assert names(graphmend("check", ".").out) == ["build/__init__.py"]

    def test_a_folder_that_is_named_is_read_whatever_its_name(self, graphmend, write):
        write(".hidden/a.py", "guard\n")
        assert names(graphmend("check", ".hidden").out) == [".hidden/a.py"]

    def test_files_of_another_suffix_are_read_when_named(self, graphmend, write):
        write("a.txt", "guard\n")
        write("b.pyi", "guard\n")
        assert graphmend("check", ".").out == ""
        assert names(graphmend("check", "a.txt").out) == ["a.txt"]

    def test_each_file_once(self, graphmend, write, tmp_path):
        write("sub/a.py", "guard\n")
        (tmp_path / "link.py").symlink_to("sub/a.py")
        assert names(graphmend("check", ".", "sub", "sub/a.py", "./sub/a.py").out) == ["sub/a.py"]

    @pytest.mark.semantics("S4", "refused")
    def test_links_out_of_the_tree_are_reported_and_not_followed(self, graphmend, write, tmp_path):
        write("outside/a.py", "log\n")
        write("tree/b.py", "guard\n")
        (tmp_path / "tree/folder").symlink_to(tmp_path / "outside")
        (tmp_path / "tree/file.py").symlink_to(tmp_path / "outside/a.py")
        ran = graphmend("fix", "tree")
        assert names(ran.out) == ["tree/b.py"]
        assert ran.err.count("not followed: the link leads out of the tree") == 2
        assert (tmp_path / "outside/a.py").read_text() == "log\n"

    @pytest.mark.semantics("S4", "refused")
    def test_loops_of_links_end(self, graphmend, write, tmp_path):
        write("pkg/a.py", "guard\n")
        (tmp_path / "pkg/again").symlink_to(tmp_path)
        (tmp_path / "pkg/self.py").symlink_to("self.py")
        (tmp_path / "pkg/dangling.py").symlink_to("gone.py")
        ran = graphmend("check", "pkg/..")
        assert (ran.code, names(ran.out)) == (2, ["pkg/../pkg/a.py"])
        assert "self.py: broken link: too many levels of symbolic links" in ran.err
        assert "dangling.py: broken link: no such file or folder" in ran.err


class TestWriting:
    def test_mode_bits_stay_and_nothing_else_is_left_behind(self, graphmend, write, tmp_path):
        path = write("a.py", "log\n")
        path.chmod(0o751)
        assert graphmend("fix", "a.py").code == 0
        assert stat.S_IMODE(path.stat().st_mode) == 0o751
        assert os.listdir(tmp_path) == ["a.py"]

    def test_a_link_that_is_named_stays_a_link(self, graphmend, write, tmp_path):
        target = write("sub/a.py", "log\n")
        (tmp_path / "link.py").symlink_to("sub/a.py")
        assert graphmend("fix", "link.py").code == 0
        assert (tmp_path / "link.py").is_symlink()
        assert target.read_text() == "mended\n"

    def test_a_file_without_changes_is_not_touched(self, graphmend, write):
        path = write("a.py", "guard\n")
        before = path.stat()
        graphmend("fix", "a.py")
        after = path.stat()
        assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)

    @pytest.mark.semantics("S4", "refused")
    def test_a_read_only_file_is_left(self, graphmend, write, monkeypatch):
        path = write("a.py", "log\n")
        # The superuser may write whatever the mode bits say, so permission is taken away here.
        monkeypatch.setattr("os.access", lambda file, mode: False)
        ran = graphmend("fix", "a.py")
        assert (ran.code, path.read_text()) == (2, "log\n")
        assert "error: a.py: cannot write: the file is read-only\n" in ran.err
        assert ran.out == "a.py:1:1: GM202 log record [fixable]\n"

    def test_a_folder_that_cannot_be_written(self, graphmend, write, monkeypatch):
        path = write("a.py", "log\n")

        def refuse(**_: object) -> tuple[int, str]:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("tempfile.mkstemp", refuse)
        ran = graphmend("fix", "a.py")
        assert (ran.code, path.read_text()) == (2, "log\n")
        assert "error: a.py: cannot write: permission denied\n" in ran.err

    @pytest.mark.semantics("S4", "refused")
    def test_a_disk_that_is_full_leaves_the_old_text(self, graphmend, write, monkeypatch, tmp_path):
        path = write("a.py", "log\n")

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        ran = graphmend("fix", "a.py")
        assert (ran.code, path.read_text(), os.listdir(tmp_path)) == (2, "log\n", ["a.py"])
        assert "no space left on device" in ran.err

    @pytest.mark.semantics("S4", "refused")
    def test_a_file_that_changes_meanwhile_is_left(self, graphmend, write, monkeypatch):
        path = write("a.py", "log\n")

        def edited(source: str, filename: str, **options: object) -> api.Result:
            path.write_text("somebody else's\n")
            return stand_in(source, filename)

        monkeypatch.setattr(api, "fix_source", edited)
        ran = graphmend("fix", "a.py")
        assert (ran.code, path.read_text()) == (2, "somebody else's\n")
        assert "changed while it was being mended" in ran.err
