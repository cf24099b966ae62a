"""`--select` and `--ignore`: from code prefixes to the set of rules that run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphmend import catalogue


def split(values: Iterable[str]) -> list[str]:
    """`("GM1,GM202", "GM3")` -> `["GM1", "GM202", "GM3"]`."""
    return [code.strip().upper() for value in values for code in value.split(",") if code.strip()]


def selected(select: Sequence[str], ignore: Sequence[str]) -> tuple[str, ...] | None:
    """The full codes that run, or None for all of them.

    A longer prefix beats a shorter one, and at equal length `--ignore` wins: `--select GM202
    --ignore GM2` runs GM202. Raises `catalogue.UnknownRule`.
    """
    if not select and not ignore:
        return None
    codes = [rule.code for rule in catalogue.rules()]
    for prefix in (*select, *ignore):
        if not any(code.startswith(prefix) for code in codes):
            raise catalogue.UnknownRule(prefix)
    chosen = [code for code in codes if _longest(code, select or ("",)) > _longest(code, ignore)]
    return tuple(chosen)


def _longest(code: str, prefixes: Iterable[str]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)
