"""The rule catalogue: data in `rules/`, one folder a rule, shipped in the wheel as `_rules`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from graphmend.findings import Category, Grade


class UnknownRule(Exception):
    """A code or name that is no rule's; the message suggests a near one."""

    def __init__(self, wrong: str) -> None:
        import difflib  # for mistyped names only

        known = {name.lower(): name for rule in rules() for name in (rule.code, rule.name)}
        near = difflib.get_close_matches(wrong.lower(), list(known), n=1)
        hint = f"did you mean {known[near[0]]}?" if near else "`graphmend explain` lists the rules"
        super().__init__(f"no rule {wrong!r}; {hint}")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `grade` is the best grade its fixes get, None where this version has no fix;
    `break_types` are Dynamo's names (`Gb_type`) of the graph breaks that its sites lead to."""

    code: str
    name: str
    category: Category
    break_types: tuple[str, ...]
    grade: Grade | None
    summary: str
    folder: Path

    def text(self) -> str:
        """The rule's page, in Markdown."""
        return (self.folder / "README.md").read_text(encoding="utf-8")


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by code."""
    found = [_read(path) for path in _folder().glob("*/rule.toml")]
    return tuple(sorted(found, key=lambda rule: rule.code))


def find(code_or_name: str) -> Rule:
    """The rule of that code (`GM202`, in either case) or name (`logger-call`).

    Raises `UnknownRule`.
    """
    wanted = code_or_name.lower()
    for rule in rules():
        if wanted in (rule.code.lower(), rule.name):
            return rule
    raise UnknownRule(code_or_name)


def _folder() -> Path:
    package = Path(__file__).parent
    shipped = package / "_rules"
    return shipped if shipped.is_dir() else package.parent / "rules"


def _read(path: Path) -> Rule:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Rule(
        code=data["code"],
        name=data["name"],
        category=Category(data["category"]),
        break_types=tuple(data["break_types"]),
        grade=Grade(data["grade"]) if "grade" in data else None,
        summary=data["summary"],
        folder=path.parent,
    )
