"""`python -m tests.semantics` writes the table of lines and tests; with --check it compares."""

from __future__ import annotations

import sys

from tests.semantics.evidence import collect
from tests.semantics.lines import lines
from tests.semantics.table import TABLE, problems, render


def main(arguments: list[str]) -> int:
    """Write or check the table; 1 where a line lacks a test, or the table is not up to date."""
    evidence = collect()
    text = render(lines(), evidence)
    found = problems(lines(), evidence)
    if arguments != ["--check"]:
        TABLE.write_text(text)
    elif not TABLE.exists() or TABLE.read_text() != text:
        found.append(f"{TABLE.name} is not up to date: run `python -m tests.semantics`")
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
