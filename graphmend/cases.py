"""The catalogue's cases, shipped with it: one file that holds a text, and what becomes of it.

The lines `# expect: CODE status[: part of the reason]` at the top say what is found, in the
order of the file, and `# flags: --unsafe` asks for unsafe fixes, too. What follows them is the
text; after a line `# output`, the mended text. Without that line the text stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from graphmend.catalogue import Rule, rules

_MARK = "# output\n"


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a rule.

    `before` and `after` are the text and what mending makes of it, `expected` the findings in
    order as (code, status, part of the reason), `unsafe` whether unsafe fixes are asked for.
    """

    rule: Rule
    name: str
    before: str
    after: str
    expected: tuple[tuple[str, str, str], ...]
    unsafe: bool

    @property
    def changes(self) -> bool:
        """Whether something is mended."""
        return self.before != self.after

    @property
    def runs(self) -> bool:
        """Whether it can be run: it defines `make() -> (callable, [arguments])`."""
        return "\ndef make():" in self.before


def cases() -> list[Case]:
    """Every case of every rule: what must be refused first, what is mended last."""
    found = [_read(rule, path) for rule in rules() for path in rule.folder.glob("cases/*.py")]
    return sorted(found, key=lambda case: (case.changes, case.rule.code, case.name))


def _read(rule: Rule, path: Path) -> Case:
    lines = path.read_bytes().decode().splitlines(keepends=True)
    header = list(takewhile(lambda line: line.startswith(("# expect: ", "# flags: ")), lines))
    before, mark, after = "".join(lines[len(header) :]).partition(_MARK)
    expected = tuple(_expectation(line) for line in header if line.startswith("# expect: "))
    unsafe = "# flags: --unsafe\n" in header
    return Case(rule, path.stem, before, after if mark else before, expected, unsafe)


def _expectation(line: str) -> tuple[str, str, str]:
    finding, _, reason = line.removeprefix("# expect: ").partition(":")
    code, status = finding.split()
    return code, status, reason.strip()
