"""S1 to S5: what a fix does to a file, to a module as it loads, and to the rest of the text."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.semantics.alike import mend, refused

_SITES = '''\
"""A module."""
from __future__ import annotations
import torch  # the library

_entry_print = deferred_effect = select = then = 1


def entry(x: torch.Tensor, then_2=2):  # type: ignore
\tx = x + 1   # odd   spacing
\tprint('é', f"{x.mean()!r:>{3}}")  # shown
\tif (x < 0).any():  # negative
\t\t# why
\t\traise ValueError(f'{x.min().item():.1f}', "no")
\ty = x*2
\tif y.sum() > 3:
\t\ty = y/2  # half
\treturn ( y,
\t\t\tx, then_2 )


class Last:
\tpass   # the end
'''


def _graphmend(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "graphmend", *arguments], cwd=folder, capture_output=True, text=True
    )


@pytest.mark.semantics("S1", "legal")
@pytest.mark.parametrize(
    ("newline", "encoding"),
    [("\n", "utf-8"), ("\r\n", "utf-8-sig"), ("\n", "latin-1")],
)
def test_only_the_lines_of_sites_change(newline: str, encoding: str, tmp_path: Path) -> None:
    text = _SITES
    if encoding == "latin-1":
        text = "# -*- coding: latin-1 -*-\n" + text
    path = tmp_path / "model.py"
    path.write_bytes(text.replace("\n", newline).encode(encoding))
    done = _graphmend(tmp_path, "fix", "model.py")
    assert done.returncode == 0, done.stderr
    data = path.read_bytes()
    assert data != text.replace("\n", newline).encode(encoding)
    assert data.count(b"\n") == data.count(newline.encode())
    after = data.decode(encoding).replace(newline, "\n")
    for line in text.splitlines():
        site = re.search("print|if |raise|y = y/2", line)
        assert site or line in after.splitlines(), line
    assert re.findall("#.*", after) == sorted(re.findall("#.*", text), key=after.index)
    for kept in ('f"{x.mean()!r:>{3}}"', "f'{x.min().item():.1f}'"):
        assert kept.replace("x.mean()", "x_mean") in after or kept in after


@pytest.mark.semantics("S2", "legal")
@pytest.mark.semantics("S3", "legal")
def test_a_second_fix_changes_nothing_and_names_are_new(tmp_path: Path) -> None:
    source = mend(_SITES, tmp_path).source
    assert mend(source, tmp_path).source == source
    compile(source, "model.py", "exec")
    tree = ast.parse(source)
    assert ast.get_docstring(tree) == "A module."
    assert [n.module for n in tree.body if isinstance(n, ast.ImportFrom)] == [
        "__future__",
        "graphmend.runtime",
    ]
    given = [n.id for n in ast.walk(ast.parse(_SITES)) if isinstance(n, ast.Name)]
    added = [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)][1:]
    added += [alias.asname or alias.name for node in imports for alias in node.names]
    assert len(added) > 4 and len(set(added)) == len(added)
    assert not {"_entry_print", "deferred_effect", "select", "then", "then_2"} & set(added)
    assert not set(added) - {"entry"} & set(given)


@pytest.mark.semantics("S1", "refused")
def test_a_fix_that_would_lose_a_comment_is_not_made(tmp_path: Path) -> None:
    text = (
        "import torch\n\ndef entry(x: torch.Tensor):\n    y = x * 1\n"
        "    if (y.sum() > 3  # a lot\n            ):\n        y = y / 2\n    return y\n"
    )
    refused(text, tmp_path, "GM101", "comment")


@pytest.mark.semantics("S4", "refused")
@pytest.mark.semantics("S1", "refused")
def test_files_that_cannot_be_mended_do_not_keep_others_from_it(tmp_path: Path) -> None:
    """One message a file; what is left is byte for byte what it was, and no other file appears."""
    tree, outside = tmp_path / "tree", tmp_path / "outside.py"
    tree.mkdir()
    text = "import torch\n\ndef entry(x: torch.Tensor):\n    print(x.mean())\n    return x + 1\n"
    outside.write_text(text)
    bad = {
        "bare.py": text.replace("\n", "\r").encode(),
        "broken.py": b"def f(:\n",
        "bytes.py": b"x = '\xff'\n",
        "wide.py": text.encode("utf-16"),
    }
    for name, data in bad.items():
        (tree / name).write_bytes(data)
    (tree / "good.py").write_text(text)
    (tree / "gone.py").symlink_to("nowhere.py")
    (tree / "link.py").symlink_to(outside)
    done = _graphmend(tmp_path, "fix", "tree")
    assert done.returncode == 2
    for name in (*bad, "gone.py"):
        assert done.stderr.count(f"error: tree/{name}: ") == 1, done.stderr
    assert "link.py: not followed" in done.stderr and "Traceback" not in done.stderr
    assert {name: (tree / name).read_bytes() for name in bad} == bad
    assert outside.read_text() == text
    assert "deferred_effect" in (tree / "good.py").read_text()
    assert sorted(os.listdir(tree)) == sorted([*bad, "good.py", "gone.py", "link.py"])


_MODEL = '''\
"""A model."""

import torch


def scale(x):
    return 1 // 0 if x.shape[0] == 3 else x * 2


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        print("sum", x.sum().item())
        if (x < 0).any():
            raise ValueError(
                f"negative: {x.min().item()}"
            )
        y = scale(x)
        if x.shape[0] == 4:
            raise RuntimeError("four")
        return y
'''


_SHOWN = """
import inspect, traceback, warnings
import torch
import graphmend

with graphmend.install(["shown"]):
    import shown
assert set(graphmend.status().mended) == {"shown"}
text = open(shown.__file__).read()
assert inspect.getsource(shown) == text
assert inspect.getsource(shown.Net) == text[text.index("class Net") :]
lines = text.splitlines()
for compiled in (False, True):
    net = torch.compile(shown.Net(), backend="eager") if compiled else shown.Net()
    for x in (-torch.ones(2), torch.ones(4), torch.ones(3)):
        try:
            net(x)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            print(type(error).__name__, *(lines[f.lineno - 1].strip() for f in frames[-1:]))
"""


@pytest.mark.semantics("S5", "legal")
def test_a_module_that_was_mended_as_it_loaded_shows_its_own_lines(tmp_path: Path) -> None:
    (tmp_path / "shown.py").write_text(_MODEL)
    (tmp_path / "run.py").write_text(_SHOWN)
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "run.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    raised = [line for line in done.stdout.splitlines() if not line.startswith("sum")]
    assert (
        raised
        == [
            "ValueError raise ValueError(",
            'RuntimeError raise RuntimeError("four")',
            "ZeroDivisionError return 1 // 0 if x.shape[0] == 3 else x * 2",
        ]
        * 2
    ), done.stderr
