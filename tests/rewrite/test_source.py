"""Source of every layout: only sites change, comments stay, and a second fix finds no more."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

import pytest

from tests.sides import mended

TEXTS = {
    "no line end at the end": "import torch\n\ndef f(x):\n    y = x.sin()\n    print('b', y.sum())",
    "form feed": (
        "import torch\n\n\f# part\n@torch.compile\ndef f(x):\n    print(x.sum())\n"
        "    return x.sin()\n"
    ),
    "shared lines": (
        "import torch; import os\n\ndef f(x):\n    y = x + 1; print(y.sum()); z = y * 2  # c\n"
        "    return z\n"
    ),
    "one-line function": "import torch\n\ndef f(x): print('b', x.sum()); return x.sin()\n",
    "comments inside": (
        "import torch\n\ndef f(x):\n    print(  # one\n        'a',  # two\n        # three\n"
        "        x.sum(),  # four\n        # five\n    )  # six\n    # seven\n    return x.sin()\n"
    ),
    "comments around branches": (
        "import torch\n\ndef f(x, n: int):\n    # zero\n    if n:\n        y = x\n    # one\n"
        "    elif (x > 1).any():  # two\n        # three\n        print('a')  # four\n"
        "        # five\n"
        "    # six\n    return x.sin()\n"
    ),
    "comment at the margin": (
        "import torch\n\ndef f(x):\n    if (x > 1).any():\n        print('a')\n# margin\n"
        "        print('b')\n  # odd\n    return x.sin()\n"
    ),
    "decorators": (
        "import torch\n\n# about f\n@torch.no_grad()\n# more\ndef f(x):\n    print(x.sum())\n"
        "    return x.sin()\n"
    ),
    "under a top-level condition": (
        "try:\n    import torch\nexcept ImportError:\n    torch = None  # none\n"
        "if torch is not None:\n"
        "    def f(x):\n        print('a', x.sum())\n        return x.sin()\n"
    ),
    "continued lines": (
        "import torch, \\\n    os\n\ndef f(x):\n    if x.dim() == 1 and \\\n       x.sum() > 1:\n"
        "        print('a\\\n b', \\\n              x.sum())\n    return x.sin()\n"
    ),
    "type comments": (
        "import torch\n\ndef f(x):\n    # type: (torch.Tensor) -> torch.Tensor\n"
        "    y = x + 1  # type: torch.Tensor\n    print(y.sum())  # type: ignore\n"
        "    return y.sin()\n"
    ),
}


def _comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sorted(t.string for t in tokens if t.type == tokenize.COMMENT)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.semantics("S1", "legal")
@pytest.mark.semantics("S2", "legal")
def test_a_fix_keeps_comments_and_is_final(name: str, tmp_path: Path) -> None:
    text = TEXTS[name]
    result = mended(text, tmp_path)
    assert result.findings
    assert all(f.status == "fixed" for f in result.findings), result.findings
    assert _comments(result.source) == _comments(text)
    assert mended(result.source, tmp_path).source == result.source


@pytest.mark.parametrize(
    ("head", "after"),
    [
        (
            "import torch; LIMITS = [\n    1,\n]  # more\n",
            "import torch; LIMITS = [\n    1,\n]  # more\n"
            "from graphmend.runtime import deferred_effect\n",
        ),
        (
            "import torch;  # alone\n",
            "import torch;  # alone\nfrom graphmend.runtime import deferred_effect\n",
        ),
    ],
)
@pytest.mark.semantics("S3", "legal")
def test_imports_that_share_a_line(head: str, after: str, tmp_path: Path) -> None:
    body = "\n\ndef entry(x):\n    print(x.mean())\n    return torch.sin(x)\n"
    assert mended(head + body, tmp_path).source.startswith(after)


@pytest.mark.semantics("S3", "legal")
def test_a_decorated_function_opens_the_file(tmp_path: Path) -> None:
    text = (
        "@(lambda function: function)\ndef entry(x):\n    import torch\n\n"
        "    print(x.mean())\n    return torch.sin(x)\n"
    )
    after = mended(text, tmp_path).source
    assert after.startswith("from graphmend.runtime import deferred_effect\n")
    assert "@(lambda function: function)\ndef entry(x):" in after
