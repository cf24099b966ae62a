"""Stored results: found when nothing changed, never when anything did, whole or not at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import graphmend
from graphmend.hook import HookWarning, digests, mending
from graphmend.hook.entry import Entry
from graphmend.hook.store import Store, default_folder, now
from tests.hook.conftest import HERE, Write, load
from tests.hook.mender import Mender, mend

SITE = "def forward(x):\n    print(x)\n    return x\n"


def load_anew(name: str) -> None:
    """Import the module as a new process would, by what is stored."""
    sys.modules.pop(name, None)
    mending._store.cache_clear()
    load(name)
    assert set(graphmend.status().mended) == {name}
    assert [f.line for f in graphmend.status().mended[name]] == [2]


def stored_files(folder: Path) -> list[Path]:
    """All files of the store."""
    return sorted(p for p in (folder / "v1").rglob("*") if p.is_file())


@pytest.mark.parametrize("damage", [b"", b"{}", b"\0" * 100, None])
def test_damaged_files_are_ignored(
    write: Write, fake_mender: Mender, tmp_path: Path, damage: bytes | None
) -> None:
    write({"pkg.py": SITE})
    graphmend.install(["pkg"])
    load_anew("pkg")
    for path in stored_files(tmp_path / "cache"):
        data = path.read_bytes()
        path.write_bytes(data[:-1] + b"?" if damage is None else damage)
    load_anew("pkg")
    assert len(fake_mender.calls) == 2
    load_anew("pkg")
    assert len(fake_mender.calls) == 2


@pytest.mark.parametrize(
    "body", [b"[]", b'{"edits": 1, "findings": []}', b'{"edits": [{}], "findings": []}', b"\xff"]
)
def test_whole_files_of_other_content_are_ignored(tmp_path: Path, body: bytes) -> None:
    store = Store(tmp_path / "cache")
    key = store.keep("0" * 64, Entry((), ()), [], now())
    assert store.find("0" * 64) is not None
    store._write(store._path("entries", key), body)
    assert store.find("0" * 64) is None


def test_a_folder_that_cannot_be_written(
    write: Write, fake_mender: Mender, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GRAPHMEND_CACHE_DIR", str(tmp_path / "file" / "cache"))
    write({"one.py": SITE, "two.py": SITE})
    graphmend.install(["one", "two"])
    with pytest.warns(HookWarning, match="cannot be written.*GRAPHMEND_CACHE_DIR") as caught:
        load("one"), load("two")
    assert len(caught) == 1
    assert set(graphmend.status().mended) == {"one", "two"}


def test_a_result_is_found_again(write: Write, fake_mender: Mender) -> None:
    write({"pkg.py": SITE})
    graphmend.install(["pkg"])
    load_anew("pkg")
    load_anew("pkg")
    assert len(fake_mender.calls) == 1


def test_a_module_without_sites_is_not_analysed_again(write: Write, fake_mender: Mender) -> None:
    write({"pkg.py": "x = 1\n"})
    graphmend.install(["pkg"])
    for _ in range(2):
        sys.modules.pop("pkg", None)
        load("pkg")
    assert len(fake_mender.calls) == 1


def test_any_change_is_another_result(
    write: Write, fake_mender: Mender, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write({"pkg.py": SITE})
    graphmend.install(["pkg"])
    load_anew("pkg")
    (folder / "pkg.py").write_text(SITE + "# more\n")
    load_anew("pkg")
    assert len(fake_mender.calls) == 2
    graphmend.install(["pkg"], unsafe=True)
    load_anew("pkg")
    assert len(fake_mender.calls) == 3
    monkeypatch.setattr(digests, "tool", lambda: "another version")
    load_anew("pkg")
    assert len(fake_mender.calls) == 4


def test_a_consulted_file_that_changes_comes_or_goes(write: Write, fake_mender: Mender) -> None:
    folder = write({"pkg.py": SITE, "helper.py": "a = 1\n"})
    fake_mender.consulted = {folder / "helper.py", folder / "absent.py"}
    graphmend.install(["pkg"])
    for text in ("a = 1\n", "a = 2\n", "a = 1\n"):
        (folder / "helper.py").write_text(text)
        load_anew("pkg")
    assert len(fake_mender.calls) == 2  # the first content was seen before
    (folder / "absent.py").write_text("")
    load_anew("pkg")
    (folder / "helper.py").unlink()
    load_anew("pkg")
    assert len(fake_mender.calls) == 4


def test_a_consulted_folder_stands_for_the_python_files_in_it(
    write: Write, fake_mender: Mender
) -> None:
    folder = write({"pkg.py": SITE, "lib/a.py": "", "lib/sub/b.py": "", "lib/notes.txt": ""})
    fake_mender.consulted = {folder / "lib"}
    graphmend.install(["pkg"])
    load_anew("pkg")
    (folder / "lib/notes.txt").write_text("changed")
    load_anew("pkg")
    assert len(fake_mender.calls) == 1
    (folder / "lib/sub/b.py").write_text("changed = 1\n")
    load_anew("pkg")
    (folder / "lib/new.py").write_text("")
    load_anew("pkg")
    assert len(fake_mender.calls) == 3


def test_a_file_that_changes_while_it_is_consulted_is_not_relied_on(
    write: Write, fake_mender: Mender, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write({"pkg.py": SITE, "helper.py": "a = 1\n"})
    fake_mender.consulted = {folder / "helper.py"}
    monkeypatch.setattr(mending.store, "now", lambda: 0)
    graphmend.install(["pkg"])
    load_anew("pkg")
    load_anew("pkg")
    assert len(fake_mender.calls) == 2


def test_the_same_text_in_two_files_is_two_results(write: Write, fake_mender: Mender) -> None:
    write({"one.py": SITE, "two.py": SITE})
    graphmend.install(["one", "two"])
    paths = {load(name).forward.__code__.co_filename for name in ("one", "two")}
    assert len(paths) == 2
    assert len(fake_mender.calls) == 2


@pytest.mark.parametrize("write_bytecode", [True, False])
def test_compiled_code_is_stored_only_where_python_may_write_bytecode(
    write: Write,
    fake_mender: Mender,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    write_bytecode: bool,
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", not write_bytecode)
    write({"pkg.py": SITE})
    graphmend.install(["pkg"])
    load_anew("pkg")
    load_anew("pkg")
    kinds = {
        p.relative_to(tmp_path / "cache" / "v1").parts[0] for p in stored_files(tmp_path / "cache")
    }
    assert kinds == {"sources", "entries"} | ({"code"} if write_bytecode else set())


def test_entries_survive_the_round_trip() -> None:
    result = mend(
        "import sys\n\n\ndef f(x):\n    print(x, file=sys.stderr)\n    print(x)\n", "f.py"
    )
    entry = Entry(result.edits, result.findings)
    assert Entry.from_bytes(entry.to_bytes()) == entry


def test_the_folder_is_the_users_cache_unless_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert default_folder() == tmp_path / "cache"
    monkeypatch.delenv("GRAPHMEND_CACHE_DIR")
    assert default_folder().name == "graphmend"


PROCESS = """
import sys
import mender, graphmend, graphmend.api
graphmend.api.fix_source = mender.Mender()
names = [f"mod_{i}" for i in range(int(sys.argv[1]))]
graphmend.install(names)
for name in names:
    module = __import__(name)
    assert module.forward(name) == name
assert set(graphmend.status().mended) == set(names), graphmend.status()
assert not graphmend.status().failed
"""


@pytest.mark.parametrize("flags", [[], ["-B"]])
def test_processes_share_a_store(write: Write, tmp_path: Path, flags: list[str]) -> None:
    """Several processes write the same entries at once; each runs mended code, no scraps stay."""
    count = 20
    folder = write({f"mod_{i}.py": SITE + f"# {i}\n" for i in range(count)})
    environment = {
        "PYTHONPATH": f"{HERE}:{folder}",
        "GRAPHMEND_CACHE_DIR": str(tmp_path / "shared"),
        "PATH": "",
    }
    processes = [
        subprocess.Popen(
            [sys.executable, *flags, "-W", "error", "-c", PROCESS, str(count)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    expected = "".join(f"mod_{i}\n" for i in range(count))
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out, err) == (0, expected, "")
    files = stored_files(tmp_path / "shared")
    assert len(files) == count * (2 if flags else 3)
    store = Store(tmp_path / "shared")
    assert all(store._read(path) is not None for path in files)
